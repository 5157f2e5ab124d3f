/* Lengths of type size_t. */

typedef unsigned long size;

void clear_bytes(unsigned char *p, size n) {
    for (size i = 0; i < n; i++) p[i] = 0;
}
void clear_bytes_broken(unsigned char *p, size n) {
    for (size i = 0; i < n; i++) p[i] = i == 5;
}

long sum_words(const int *a, size n) {
    long s = 0;
    for (size i = 0; i < n; i++) s += a[i];
    return s;
}
long sum_words_broken(const int *a, size n) {
    int s = 0;
    for (size i = 0; i < n; i++) s += a[i];
    return s;
}

void negate(short *a, size n) {
    for (size i = 0; i < n; i++) a[i] = (short)-a[i];
}
void negate_broken(short *a, size n) {
    for (size i = 0; i < n; i++) a[i] = (short)~a[i];
}

size where(const int *a, size n, int key) {
    size i = 0;
    while (i < n && a[i] != key) i++;
    return i;
}
size where_rewrite(const int *a, size n, int key) {
    const int *p = a, *end = a + n;
    for (; p != end; p++)
        if (*p == key) return (size)(p - a);
    return n;
}
size where_broken(const int *a, size n, int key) {
    const int *p = a, *end = a + n;
    for (; p != end; p++)
        if (*p == key) return (size)(p - a);
    return 0;
}
