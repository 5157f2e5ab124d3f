/* Buffers that overlap, buffers that `restrict` says do not, and counters that wrap late. */

void scaled(int *restrict y, const int *restrict x, int n, int k) {
    for (int i = 0; i < n; i++) y[i] = k * x[i];
}
void scaled_broken(int *restrict y, const int *restrict x, int n, int k) {
    for (int i = 0; i < n; i++) y[i] = k * x[i] + (i == 7);
}

void spread(short *restrict a, const short *restrict b, const short *restrict c, int n) {
    for (int i = 0; i < n; i++) a[i] = (short)(b[i] - c[i]);
}
void spread_broken(short *restrict a, const short *restrict b, const short *restrict c, int n) {
    for (int i = 0; i < n; i++) a[i] = (short)(c[i] - b[i]);
}

void smooth(int *a, int n) {
    for (int i = 1; i < n; i++) a[i] += a[i - 1];
}
void smooth_early(int *a, int n) {
    int i = 1;
    for (; i + 1 < n; i += 2) {
        int p = a[i - 1], q = a[i];
        a[i] += p;
        a[i + 1] += q;
    }
    for (; i < n; i++) a[i] += a[i - 1];
}

unsigned folded(unsigned n) {
    unsigned c = 0;
    for (unsigned i = 0; i < n; i++) c ^= i * 5;
    return c;
}
unsigned folded_wraps(unsigned n) {
    unsigned c = 0;
    for (unsigned i = 0; i < n; i++) c ^= (i & 0x7fff) * 5;
    return c;
}
