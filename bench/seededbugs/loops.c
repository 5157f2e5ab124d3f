long sum(const int *a, int n)
{
    long total = 0;
    //? constant | long total = 1;
    for (int i = 0; i < n; i++)
    //? comparison | for (int i = 0; i <= n - 2; i++)
    //? constant | for (int i = 1; i < n; i++)
        total += a[i];
        //? operator | total -= a[i];
        //? width | total = (int)(total + a[i]);
    return total;
    //? operator | return ~total;
}

int find(const char *s, char wanted)
{
    int at = 0;
    while (s[at] != 0) {
        if (s[at] == wanted)
        //? comparison | if (s[at] >= wanted)
            return at;
            //? operator | return at + 1;
        at++;
        //? constant | at += 2;
    }
    return -1;
    //? constant | return 0;
}

unsigned checksum(const unsigned char *data, unsigned n)
{
    unsigned a = 1, b = 0;
    //? constant | unsigned a = 0, b = 0;
    for (unsigned i = 0; i < n; i++) {
        a = (a + data[i]) & 0xffff;
        //? operator | a = (a ^ data[i]) & 0xffff;
        //? constant | a = (a + data[i]) & 0x7fff;
        b = (b + a) & 0xffff;
        //? operand | b = (b + data[i]) & 0xffff;
    }
    return b << 16 | a;
    //? operator | return b << 16 ^ ~a;
}

void scale(int *out, const int *in, int n, int k)
{
    for (int i = 0; i < n; i++) {
        int v = in[i] * k;
        //? operator | int v = in[i] + k;
        if (v > 1000)
        //? comparison | if (v > 1001)
            v = 1000;
            //? constant | v = 999;
        out[i] = v;
        //? operand | out[0] = v;
    }
}

int bits(unsigned long x)
{
    int n = 0;
    while (x) {
        n += x & 1;
        //? constant | n += x & 3;
        x >>= 1;
        //? constant | x >>= 2;
    }
    return n;
}

int power(int base, unsigned e)
{
    int r = 1;
    //? constant | int r = 2;
    while (e) {
        if (e & 1)
        //? constant | if (e & 2)
            r *= base;
            //? operator | r += base;
        base *= base;
        e >>= 1;
    }
    return r;
}
