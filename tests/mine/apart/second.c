/* The other library. */

unsigned odd_ones(unsigned char x) {
    x ^= x >> 4;
    return (0x6996 >> (x & 15)) & 1;
}

int limit(int lowest, int highest, int x) {
    if (x > highest && highest >= lowest)
        return highest;
    return x < lowest ? lowest : x > highest ? highest : x;
}

unsigned rol(unsigned char by, unsigned x) {
    by &= 31;
    return by ? (x << by) | (x >> (32 - by)) : x;
}

long minus(long a, long b) { return a - b; }

int in_range(int c, int first, int last) { return (unsigned)(c - first) <= (unsigned)(last - first) && first <= last; }

void set(int value, int *place) { *place = value; }

unsigned mean(unsigned a, unsigned b) { return (unsigned)(((unsigned long)a + b) / 2); }

long sign_of(long x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

/* Looks like is_digit, and is not: it takes ':' too. */
int nearly_digit(int c) { return c >= '0' && c <= ':'; }

/* Looks like put, and writes one further. */
void put_behind(int *place, int value) { place[1] = value; }
