/* Lengths of type size_t. */

typedef unsigned long size;

void fill_words(unsigned *a, unsigned value, size n) {
    for (size i = 0; i < n; i++) a[i] = value;
}
void fill_words_broken(unsigned *a, unsigned value, size n) {
    for (size i = 0; i < n; i++) a[i] = i == 6 ? 0 : value;
}

void double_words(int *a, size n) {
    for (size i = 0; i < n; i++) a[i] += a[i];
}
void double_words_broken(int *a, size n) {
    for (size i = 0; i < n; i++) a[i] += a[0];
}

unsigned sum_bytes(const unsigned char *p, size n) {
    unsigned s = 0;
    for (size i = 0; i < n; i++) s += p[i];
    return s;
}
unsigned sum_bytes_broken(const unsigned char *p, size n) {
    unsigned s = 0;
    for (size i = 0; i < n; i++) s += p[i] & 127;
    return s;
}

void mix(unsigned char *p, size n, unsigned char key) {
    for (size i = 0; i < n; i++) p[i] ^= key;
}
void mix_broken(unsigned char *p, size n, unsigned char key) {
    for (size i = 0; i < n; i++) p[i] |= key;
}

size zeros(const int *a, size n) {
    size c = 0;
    for (size i = 0; i < n; i++) c += a[i] == 0;
    return c;
}
size zeros_broken(const int *a, size n) {
    size c = 0;
    for (size i = 0; i < n; i++) c += (short)a[i] == 0;
    return c;
}

int equal(const int *a, const int *b, size n) {
    for (size i = 0; i < n; i++)
        if (a[i] != b[i]) return 0;
    return 1;
}
int equal_rewrite(const int *a, const int *b, size n) {
    const int *end = a + n;
    while (a != end)
        if (*a++ != *b++) return 0;
    return 1;
}
int equal_broken(const int *a, const int *b, size n) {
    const int *end = a + n;
    while (a != end)
        if (*a++ < *b++) return 0;
    return 1;
}
