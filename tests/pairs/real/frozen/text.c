/* Scans and conversions of text and bytes. */

typedef unsigned long size;
typedef unsigned char byte;

const char *any_of(const char *s, const char *set) {
    for (; *s; s++)
        for (const char *c = set; *c; c++)
            if (*s == *c) return s;
    return 0;
}
const char *any_of_broken(const char *s, const char *set) {
    for (; *s; s++)
        for (const char *c = set; *c; c++)
            if (*s == *c) return s + (c != set);
    return 0;
}

int same_words(const unsigned long *a, const unsigned long *b, unsigned n) {
    const byte *p = (const byte *)a, *q = (const byte *)b;
    for (size i = 0; i < 8 * (size)n; i++)
        if (p[i] != q[i]) return 0;
    return 1;
}
int same_words_rewrite(const unsigned long *a, const unsigned long *b, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        if (a[i] != b[i]) return 0;
    return 1;
}
int same_words_broken(const unsigned long *a, const unsigned long *b, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        if ((unsigned)a[i] != (unsigned)b[i]) return 0;
    return 1;
}

void to_hex(char *out, const byte *in, int n) {
    for (int i = 0; i < n; i++) {
        out[2 * i] = "0123456789abcdef"[in[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[in[i] & 15];
    }
}
void to_hex_broken(char *out, const byte *in, int n) {
    for (int i = 0; i < n; i++) {
        out[2 * i] = "0123456789abcdef"[in[i] >> 4];
        out[2 * i + 1] = "0123456789abcdeF"[in[i] & 15];
    }
}

unsigned long varint(const byte *p) {
    unsigned long value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
        value |= (unsigned long)(*p & 127) << shift;
        if (!(*p++ & 128)) break;
    }
    return value;
}
unsigned long varint_broken(const byte *p) {
    unsigned long value = 0;
    for (int shift = 0; shift < 56; shift += 7) {
        value |= (unsigned long)(*p & 127) << shift;
        if (!(*p++ & 128)) break;
    }
    return value;
}

unsigned adler(const byte *p, int n) {
    unsigned a = 1, b = 0;
    for (int i = 0; i < n; i++) {
        a = (a + p[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}
unsigned adler_broken(const byte *p, int n) {
    unsigned a = 1, b = 0;
    for (int i = 0; i < n; i++) {
        a = (a + p[i]) % 65521;
        b = (b + p[i]) % 65521;
    }
    return b << 16 | a;
}

int characters(const char *s) {
    int n = 0;
    for (; *s; s++) n += (*s & 0xc0) != 0x80;
    return n;
}
int characters_broken(const char *s) {
    int n = 0;
    for (; *s; s++) n += (*s & 0x80) != 0x80;
    return n;
}
