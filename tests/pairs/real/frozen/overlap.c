/* Buffers that overlap, buffers that `restrict` says do not, and counters that wrap late. */

void accumulate(int *restrict y, const int *restrict x, int n) {
    for (int i = 0; i < n; i++) y[i] += x[i];
}
void accumulate_broken(int *restrict y, const int *restrict x, int n) {
    for (int i = 0; i < n; i++) y[i] += x[i] + (i == 5);
}

void hoisted(int *restrict a, const int *restrict k, int n) {
    for (int i = 0; i < n; i++) a[i] += *k;
}
void hoisted_broken(int *restrict a, const int *restrict k, int n) {
    for (int i = 0; i < n; i++) a[i] += *k & 0xffff;
}

void difference(int *restrict out, const int *restrict in, int n) {
    for (int i = 0; i + 1 < n; i++) out[i] = in[i + 1] - in[i];
}
void difference_broken(int *restrict out, const int *restrict in, int n) {
    for (int i = 0; i + 1 < n; i++) out[i] = in[i] - in[i + 1];
}

void careful(int *y, const int *x, int n) {
    for (int i = 0; i < n; i++) y[i] += x[i];
}
void careless(int *y, const int *x, int n) {
    int i = 0;
    for (; i + 3 < n; i += 4) {
        int p = x[i], q = x[i + 1], r = x[i + 2], s = x[i + 3];
        y[i] += p;
        y[i + 1] += q;
        y[i + 2] += r;
        y[i + 3] += s;
    }
    for (; i < n; i++) y[i] += x[i];
}

unsigned counted(unsigned n) {
    unsigned c = 0;
    for (unsigned i = 0; i < n; i++) c += i;
    return c;
}
unsigned counted_wraps(unsigned n) {
    unsigned c = 0;
    for (unsigned i = 0; i < n; i++) c += (unsigned short)i;
    return c;
}

void forward(char *to, const char *from, int n) {
    for (int i = 0; i < n; i++) to[i] = from[i];
}
void backward(char *to, const char *from, int n) {
    for (int i = n - 1; i >= 0; i--) to[i] = from[i];
}
