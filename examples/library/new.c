/* A small library, in its new version. Since old.c:
   - written differently, and the same: absolute, sign, to_upper, text_length, sum, contains, overlaps;
   - made faster: average, swap_bytes;
   - three bugs: digit_value no longer knows 'A', and so neither does hex_byte, which calls it; add_twice is wrong if both
     pointers are the same; percent no longer says that there is no whole if there is no part either;
   - largest is called maximum_of, and is_vowel is new. */

struct range {
    int low, high; /* both inside */
};

/* Bits. */

int is_power_of_two(unsigned x) { return x != 0 && (x & (x - 1)) == 0; }

unsigned lowest_bit(unsigned x) { return x & -x; }

unsigned rotate_left(unsigned x, unsigned count) { return x << (count & 31) | x >> (-count & 31); }

unsigned swap_bytes(unsigned x) {
    x = x << 16 | x >> 16;
    return (x << 8 & 0xff00ff00) | (x >> 8 & 0x00ff00ff);
}

int parity(unsigned x) {
    x ^= x >> 16;
    x ^= x >> 8;
    x ^= x >> 4;
    x ^= x >> 2;
    return (x ^ x >> 1) & 1;
}

int count_bits(unsigned x) {
    int count = 0;
    for (; x != 0; x &= x - 1)
        count++;
    return count;
}

unsigned set_bit(unsigned x, unsigned bit) { return x | 1u << (bit & 31); }

unsigned clear_bit(unsigned x, unsigned bit) { return x & ~(1u << (bit & 31)); }

/* Numbers. */

int minimum(int a, int b) { return a < b ? a : b; }

int maximum(int a, int b) { return a > b ? a : b; }

int clamp(int x, int low, int high) {
    if (x < low)
        return low;
    return x > high ? high : x;
}

unsigned absolute(int x) {
    unsigned mask = (unsigned)(x >> 31);
    return ((unsigned)x ^ mask) - mask;
}

int sign(int x) { return (x > 0) - (x < 0); }

unsigned average(unsigned x, unsigned y) { return (x & y) + ((x ^ y) >> 1); }

unsigned add_saturating(unsigned x, unsigned y) { return x + y < x ? ~0u : x + y; }

unsigned divide_up(unsigned x, unsigned y) { return y == 0 ? 0 : x / y + (x % y != 0); }

unsigned greatest_common_divisor(unsigned x, unsigned y) {
    while (y != 0) {
        unsigned rest = x % y;
        x = y;
        y = rest;
    }
    return x;
}

/* -1 if there is no whole. */
int percent(int part, int whole) {
    if (part == 0)
        return 0;
    if (whole == 0)
        return -1;
    return (int)((long)part * 100 / whole);
}

/* Text. */

int is_digit(int c) { return c >= '0' && c <= '9'; }

int is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

int is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

int to_upper(int c) { return (unsigned)c - 'a' < 26 ? c ^ ' ' : c; }

int to_lower(int c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }

int is_vowel(int c) {
    int lower = to_lower(c);
    return lower == 'a' || lower == 'e' || lower == 'i' || lower == 'o' || lower == 'u';
}

/* -1 if it is no hexadecimal digit. */
int digit_value(int c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c > 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* -1 if the two are no hexadecimal digits. */
int hex_byte(const char *text) {
    int high = digit_value(text[0]), low = digit_value(text[1]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

unsigned long text_length(const char *text) {
    const char *end = text;
    while (*end != '\0')
        end++;
    return (unsigned long)(end - text);
}

int text_equal(const char *a, const char *b) {
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

unsigned long count_letter(const char *text, char letter) {
    unsigned long count = 0;
    for (; *text != '\0'; text++)
        count += *text == letter;
    return count;
}

/* Buffers. */

int sum(const int *a, int n) {
    unsigned total = 0;
    while (n-- > 0)
        total += (unsigned)*a++;
    return (int)total;
}

int maximum_of(const int *a, int n) {
    int best = a[0];
    for (int i = 1; i < n; i++)
        if (a[i] > best)
            best = a[i];
    return best;
}

int index_of(const int *a, int n, int value) {
    for (int i = 0; i < n; i++)
        if (a[i] == value)
            return i;
    return -1;
}

void swap(int *p, int *q) {
    int kept = *p;
    *p = *q;
    *q = kept;
}

void add_twice(unsigned *to, const unsigned *from) {
    *to += 2 * *from;
}

unsigned checksum(const unsigned char *bytes, unsigned n) {
    unsigned check = 1;
    for (unsigned i = 0; i < n; i++)
        check = check * 31 + bytes[i];
    return check;
}

/* Ranges. */

int contains(const struct range *r, int x) { return !(x < r->low || r->high < x); }

int overlaps(const struct range *a, const struct range *b) { return a->low <= b->high && b->low <= a->high; }

long length_of(const struct range *r) { return r->high < r->low ? 0 : (long)r->high - r->low + 1; }

void shift(struct range *r, int by) {
    r->low = (int)((unsigned)r->low + (unsigned)by);
    r->high = (int)((unsigned)r->high + (unsigned)by);
}

/* Dates. */

int is_leap_year(int year) {
    if (year % 400 == 0)
        return 1;
    if (year % 100 == 0)
        return 0;
    return year % 4 == 0;
}

/* 0 if there is no such month. */
int days_in_month(int month, int year) {
    if (month < 1 || month > 12)
        return 0;
    if (month == 2)
        return 28 + is_leap_year(year);
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}
