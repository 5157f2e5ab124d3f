/* What <string.h> does, byte by byte: with an index, and with a pointer. */

typedef unsigned long size;

size length(const char *s) {
    size i = 0;
    while (s[i]) i++;
    return i;
}
size length_rewrite(const char *s) {
    const char *p = s;
    while (*p) p++;
    return (size)(p - s);
}
size length_broken(const char *s) {
    const char *p = s;
    while (*p++) {}
    return (size)(p - s);
}

void *fill(void *to, int byte, size n) {
    unsigned char *p = to;
    for (size i = 0; i < n; i++) p[i] = (unsigned char)byte;
    return to;
}
void *fill_rewrite(void *to, int byte, size n) {
    unsigned char *p = to, *end = p + n;
    while (p != end) *p++ = (unsigned char)byte;
    return to;
}
void *fill_broken(void *to, int byte, size n) {
    unsigned char *p = to, *end = p + n;
    while (p != end) *p++ = (unsigned char)byte;
    return p;
}

void *copy(void *to, const void *from, size n) {
    unsigned char *p = to;
    const unsigned char *q = from;
    for (size i = 0; i < n; i++) p[i] = q[i];
    return to;
}
void *copy_rewrite(void *to, const void *from, size n) {
    unsigned char *p = to;
    const unsigned char *q = from;
    while (n--) *p++ = *q++;
    return to;
}
void *copy_broken(void *to, const void *from, size n) {
    unsigned char *p = to;
    const unsigned char *q = from;
    while (n--) p[n] = q[n];
    return to;
}

int compare(const void *left, const void *right, size n) {
    const unsigned char *p = left, *q = right;
    for (size i = 0; i < n; i++)
        if (p[i] != q[i]) return p[i] - q[i];
    return 0;
}
int compare_rewrite(const void *left, const void *right, size n) {
    const unsigned char *p = left, *q = right;
    for (; n; n--, p++, q++) {
        int difference = *p - *q;
        if (difference) return difference;
    }
    return 0;
}
int compare_broken(const void *left, const void *right, size n) {
    const signed char *p = left, *q = right;
    for (; n; n--, p++, q++) {
        int difference = *p - *q;
        if (difference) return difference;
    }
    return 0;
}

int compare_strings(const char *left, const char *right) {
    size i = 0;
    while (left[i] && left[i] == right[i]) i++;
    return (unsigned char)left[i] - (unsigned char)right[i];
}
int compare_strings_rewrite(const char *left, const char *right) {
    for (;; left++, right++) {
        unsigned char l = (unsigned char)*left, r = (unsigned char)*right;
        if (l != r || !l) return l - r;
    }
}
int compare_strings_broken(const char *left, const char *right) {
    for (;; left++, right++) {
        signed char l = (signed char)*left, r = (signed char)*right;
        if (l != r || !l) return l - r;
    }
}

/* What digits say: bytes are told apart by two comparisons, or by one after a subtraction. */
size number(const char *text) {
    size value = 0;
    while (*text >= '0' && *text <= '9') {
        value = value * 10 + (size)(*text - '0');
        text++;
    }
    return value;
}
size number_broken(const char *text) {
    size value = 0;
    while (*text >= '0' && *text < '9') {
        value = value * 10 + (size)(*text - '0');
        text++;
    }
    return value;
}

/* The two ends against each other: an index from the end is a difference of two numbers. */
int palindrome(const char *text, int n) {
    for (int i = 0; i < n / 2; i++)
        if (text[i] != text[n - 1 - i]) return 0;
    return 1;
}
int palindrome_broken(const char *text, int n) {
    for (int i = 0; i < n / 2; i++)
        if (text[i] != text[n - i]) return 0;
    return 1;
}

/* Each element with the one before it, which the other side keeps in a register. */
int sorted(const int *a, int n) {
    for (int i = 1; i < n; i++)
        if (a[i - 1] > a[i]) return 0;
    return 1;
}
int sorted_broken(const int *a, int n) {
    for (int i = 1; i < n; i++)
        if (a[i - 1] >= a[i]) return 0;
    return 1;
}

/* The first of some letters: one side loads the first of them before all loops, the other each time. */
const char *first_of(const char *s, const char *set) {
    for (; *s; s++)
        for (const char *p = set; *p; p++)
            if (*p == *s) return s;
    return 0;
}
const char *first_of_read(const char *s, const char *set) {
    while (*s) {
        const char *p = set;
        char c;
        while ((c = *p++) != 0)
            if (c == *s) return s;
        ++s;
    }
    return 0;
}
const char *first_of_read_broken(const char *s, const char *set) {
    while (*s) {
        const char *p = set;
        char c;
        while ((c = *p++) != 0)
            if (c == *s && p - set < 6) return s;
        ++s;
    }
    return 0;
}
