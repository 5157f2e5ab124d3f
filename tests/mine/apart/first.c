/* One of two libraries that were written apart: see test_mining.py for what interchanges with what. */

unsigned parity(unsigned char x) {
    unsigned found = 0;
    for (; x; x &= x - 1)
        found ^= 1;
    return found;
}

int clamp(int value, int low, int high) { return value < low ? low : value > high ? high : value; }

unsigned rotate_left(unsigned x, unsigned by) { return (x << (by & 31)) | (x >> (-by & 31)); }

long distance(long from, long to) { return to - from; }

int is_digit(int c) { return c >= '0' && c <= '9'; }

void put(int *place, int value) { *place = value; }

unsigned average(unsigned a, unsigned b) { return (a & b) + ((a ^ b) >> 1); }

int sign(int x) { return (x > 0) - (x < 0); }

/* Looks like average, and rounds up. */
unsigned average_up(unsigned a, unsigned b) { return (a | b) - ((a ^ b) >> 1); }

void nothing(int x) { (void)x; }
