/* Algebra, division by constants, wide multiplication. */

unsigned long product(unsigned long x) { return (x + 1) * (x + 2) * x * (x + 3); }
unsigned long product_rewrite(unsigned long x) {
    unsigned long square = x * x + 3 * x;
    return square * (square + 2);
}
unsigned long product_broken(unsigned long x) {
    unsigned long square = x * x + 3 * x;
    return square * (square + 1);
}

unsigned square_of_sum(unsigned x, unsigned y) { return (x + y) * (x + y); }
unsigned square_of_sum_rewrite(unsigned x, unsigned y) { return x * x + 2 * x * y + y * y; }
unsigned square_of_sum_broken(unsigned x, unsigned y) { return x * x + x * y + y * y; }

unsigned divide_ten(unsigned x) { return x / 10; }
unsigned divide_seven(unsigned x) { return x / 7; }
int divide_signed_ten(int x) { return x / 10; }
int divide_eight(int x) { return x / 8; }
int divide_eight_broken(int x) { return x >> 3; }
unsigned remainder_ten(unsigned x) { return x % 10; }
unsigned short divide_short(unsigned short x) { return x / 10; }
unsigned short divide_short_rewrite(unsigned short x) { return (unsigned short)(x * 52429u >> 19); }
unsigned short divide_short_broken(unsigned short x) { return (unsigned short)(x * 6554u >> 16); }

unsigned long high_half(unsigned long x, unsigned long y) {
    return (unsigned long)((unsigned __int128)x * y >> 64);
}
unsigned long high_half_broken(unsigned long x, unsigned long y) {
    return (unsigned long)((__int128)(long)x * (long)y >> 64);
}

unsigned __int128 wide_sum(unsigned __int128 x, unsigned __int128 y) { return x + y; }
unsigned __int128 wide_sum_rewrite(unsigned __int128 x, unsigned __int128 y) {
    unsigned long low = (unsigned long)x + (unsigned long)y;
    unsigned long high = (unsigned long)(x >> 64) + (unsigned long)(y >> 64) + (low < (unsigned long)x);
    return (unsigned __int128)high << 64 | low;
}
unsigned __int128 wide_sum_broken(unsigned __int128 x, unsigned __int128 y) {
    unsigned long low = (unsigned long)x + (unsigned long)y;
    unsigned long high = (unsigned long)(x >> 64) + (unsigned long)(y >> 64) + (low <= (unsigned long)x);
    return (unsigned __int128)high << 64 | low;
}

unsigned clamp(unsigned x, unsigned low, unsigned high) { return x < low ? low : x > high ? high : x; }
unsigned clamp_rewrite(unsigned x, unsigned low, unsigned high) {
    unsigned y = x > low ? x : low;
    return y < high ? y : high;
}

unsigned clamp_broken(unsigned x, unsigned low, unsigned high) { return x < low ? high : x > high ? high : x; }

unsigned add_saturated(unsigned x, unsigned y) { return x > ~y ? ~0u : x + y; }
unsigned add_saturated_rewrite(unsigned x, unsigned y) {
    unsigned sum = x + y;
    return sum | -(sum < x);
}
unsigned add_saturated_broken(unsigned x, unsigned y) {
    unsigned sum = x + y;
    return sum | -(sum <= x);
}

int add_checked(int x, int y) {
    int sum;
    return __builtin_add_overflow(x, y, &sum) ? 0 : sum;
}
int add_checked_rewrite(int x, int y) {
    long sum = (long)x + y;
    return sum == (int)sum ? (int)sum : 0;
}
int add_checked_broken(int x, int y) {
    long sum = (long)x + y;
    return sum > -2147483648l && sum <= 2147483647l ? (int)sum : 0;
}

double half(double x) { return x * 0.5; }
double half_broken(double x) { return x * 0.25; }

unsigned high_product(unsigned x, unsigned y) { return (unsigned)((unsigned long)x * y >> 32); }
unsigned high_product_rewrite(unsigned x, unsigned y) {
    unsigned a = x >> 16, b = x & 0xffff, c = y >> 16, d = y & 0xffff;
    unsigned middle = a * d + (b * d >> 16);
    unsigned low = (middle & 0xffff) + b * c;
    return a * c + (middle >> 16) + (low >> 16);
}
unsigned high_product_broken(unsigned x, unsigned y) {
    unsigned a = x >> 16, b = x & 0xffff, c = y >> 16, d = y & 0xffff;
    return a * c + ((a * d) >> 16) + ((b * c) >> 16);
}
