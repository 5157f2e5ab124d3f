/* Functions that call others of the same file: these are compared by questions of their own. */
#define OWN __attribute__((noinline))

OWN unsigned mixed(const unsigned char *p, int n) {
    unsigned h = 5381;
    for (int i = 0; i < n; i++)
        h = h * FACTOR + p[i];
    return h;
}

unsigned two(const unsigned char *a, int n, const unsigned char *b, int m) { return 3 * mixed(a, n) + mixed(b, m); }
unsigned two_swapped(const unsigned char *a, int n, const unsigned char *b, int m) {
    return 3 * mixed(b, m) + mixed(a, n);
}

static unsigned count;
OWN void advance(unsigned n) {
    unsigned sum = count;
    for (unsigned i = 0; i < n; i++)
        sum = sum * FACTOR + i;
    count = sum;
}

unsigned raised(unsigned n) {
    advance(n);
    return count;
}

unsigned not_raised(unsigned n) {
    unsigned old = count;
    advance(n);
    return old;
}

/* The declaration promises that both are apart, and the call of itself breaks that. */
OWN int apart(int *restrict a, int *restrict b, int n) {
    if (n <= 0) {
        *a = 1;
        *b = 2;
        return *a;
    }
    return FACTOR * apart(a, n == 7 ? a : b, n - 1) + 1;
}
