/* Scans and conversions of text and bytes. */

typedef unsigned long size;
typedef unsigned char byte;

int compare_some(const byte *a, const byte *b, size n) {
    for (; n; a++, b++, n--) {
        if (*a != *b) return *a - *b;
        if (!*a) break;
    }
    return 0;
}
int compare_some_broken(const byte *a, const byte *b, size n) {
    for (; n; a++, b++, n--) {
        if (!*a) break;
        if (*a != *b) return *a - *b;
    }
    return 0;
}

size span_without(const char *s, const char *set) {
    size n = 0;
    for (; s[n]; n++)
        for (const char *c = set; *c; c++)
            if (s[n] == *c) return n;
    return n;
}
size span_without_broken(const char *s, const char *set) {
    size n = 0;
    for (; s[n]; n++)
        for (const char *c = set + 1; *c; c++)
            if (s[n] == *c) return n;
    return n;
}

unsigned checksum(const byte *p, int n) {
    unsigned c = ~0u;
    for (int i = 0; i < n; i++) {
        c ^= p[i];
        for (int k = 0; k < 8; k++) c = c >> 1 ^ (0xedb88320u & -(c & 1));
    }
    return ~c;
}
unsigned checksum_broken(const byte *p, int n) {
    unsigned c = ~0u;
    for (int i = 0; i < n; i++) {
        c ^= p[i];
        for (int k = 0; k < 8; k++) c = c >> 1 ^ (0xedb88321u & -(c & 1));
    }
    return ~c;
}

static const char symbols[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
void to_base64(char *out, const byte *in, int groups) {
    for (int i = 0; i < groups; i++, in += 3, out += 4) {
        out[0] = symbols[in[0] >> 2];
        out[1] = symbols[(in[0] & 3) << 4 | in[1] >> 4];
        out[2] = symbols[(in[1] & 15) << 2 | in[2] >> 6];
        out[3] = symbols[in[2] & 63];
    }
}
void to_base64_broken(char *out, const byte *in, int groups) {
    for (int i = 0; i < groups; i++, in += 3, out += 4) {
        out[0] = symbols[in[0] >> 2];
        out[1] = symbols[(in[0] & 3) << 4 | in[1] >> 4];
        out[2] = symbols[(in[1] & 15) << 2 | in[2] >> 6];
        out[3] = symbols[in[2] & 31];
    }
}

int *moved(int *to, const int *from, size n) {
    int *first = to;
    if (to == from) return to;
    if ((size)to - (size)from < n * sizeof *to)
        while (n--) to[n] = from[n];
    else
        while (n--) *to++ = *from++;
    return first;
}
int *moved_broken(int *to, const int *from, size n) {
    int *first = to;
    if (to == from) return to;
    if ((size)to - (size)from < n)
        while (n--) to[n] = from[n];
    else
        while (n--) *to++ = *from++;
    return first;
}
