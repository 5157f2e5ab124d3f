/* Four at a time as if the buffers did not overlap, against one after the other. */

void add(int *y, const int *x, int n) {
    for (int i = 0; i < n; i++) y[i] += x[i];
}
void add_four(int *y, const int *x, int n) {
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        int a = x[i], b = x[i + 1], c = x[i + 2], d = x[i + 3];
        y[i] += a;
        y[i + 1] += b;
        y[i + 2] += c;
        y[i + 3] += d;
    }
    for (; i < n; i++) y[i] += x[i];
}

/* Bytes, where only a distance of 13 to 15 matters. */
void copy(char *to, const char *from, unsigned long n) {
    for (unsigned long i = 0; i < n; i++) to[i] = from[i];
}
void copy_sixteen(char *to, const char *from, unsigned long n) {
    unsigned long i = 0;
    unsigned long d = (unsigned long)to - (unsigned long)from;
    if (d == 0 || d > 12)
        for (; i + 16 <= n; i += 16) {
            unsigned long a, b;
            __builtin_memcpy(&a, from + i, 8);
            __builtin_memcpy(&b, from + i + 8, 8);
            __builtin_memcpy(to + i, &a, 8);
            __builtin_memcpy(to + i + 8, &b, 8);
        }
    for (; i < n; i++) to[i] = from[i];
}
