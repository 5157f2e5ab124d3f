/* Comparisons of small blocks: optimised code does them in registers. */
#include <string.h>

struct digest {
    unsigned long low, high;
};

int same(struct digest x, struct digest y) { return !memcmp(&x, &y, sizeof x); }
int same_fields(struct digest x, struct digest y) { return x.low == y.low && x.high == y.high; }
int same_low(struct digest x, struct digest y) { return x.low == y.low && x.high == y.low; }

int before(const unsigned char *a, const unsigned char *b) { return memcmp(a, b, 4) < 0; }

int before_bytes(const unsigned char *a, const unsigned char *b) {
    for (int i = 0; i < 4; i++)
        if (a[i] != b[i])
            return a[i] < b[i];
    return 0;
}

int before_signed(const unsigned char *a, const unsigned char *b) {
    for (int i = 0; i < 4; i++)
        if (a[i] != b[i])
            return (signed char)a[i] < (signed char)b[i];
    return 0;
}

int is_png(const char *p) { return memcmp(p, "\x89PNG\r\n\x1a\n", 8) == 0; }

int is_png_word(const char *p) {
    unsigned long word;
    memcpy(&word, p, sizeof word);
    return word == 0x0a1a0a0d474e5089;
}

int is_png_short(const char *p) { return memcmp(p, "\x89PNG\r\n\x1a\n", 7) == 0; }

/* The blocks change between two comparisons. */
int changes(unsigned char *a, const unsigned char *b) {
    int first = memcmp(a, b, 8) == 0;
    a[3] ^= 1;
    return first + 2 * (memcmp(a, b, 8) == 0);
}

int changes_once(unsigned char *a, const unsigned char *b) {
    int first = memcmp(a, b, 8) == 0;
    a[3] ^= 1;
    return 3 * first;
}
