/* Identities in the manner of Hacker's Delight: a plain function, and a small one whose arguments are to be found. */
unsigned same(unsigned x) { return x; }
unsigned add(unsigned p, unsigned q) { return p + q; }
unsigned subtract(unsigned p, unsigned q) { return p - q; }
unsigned both(unsigned p, unsigned q) { return p & q; }
unsigned either(unsigned p, unsigned q) { return p | q; }
unsigned complement(unsigned x) { return ~x; }
unsigned negated(unsigned x) { return -x; }
unsigned right_shifted(unsigned v, unsigned n) { return v >> (n & 31); }
unsigned rotated_right(unsigned v, unsigned n) { return v >> (n & 31) | v << (-n & 31); }
unsigned with_mask(unsigned v, unsigned m) { return (v ^ m) - m; }
int there_and_back(int v, unsigned n) { return (int)((unsigned)v << (n & 31)) >> (n & 31); }
unsigned down_and_up(unsigned v, unsigned n) { return v >> (n & 31) << (n & 31); }
unsigned down_and_up_more(unsigned v, unsigned n) { return v >> (n & 31) << (n & 31) << 1; }
int any_bit(unsigned v, unsigned m) { return (v & m) != 0; }
unsigned scaled(unsigned v, unsigned k, unsigned c) { return v * k + c; }
int moved(int v, int by) { return v + by; }
unsigned picked(unsigned m, unsigned p, unsigned q) { return (p & m) | (q & ~m); }

unsigned lowest_one(unsigned x) { for (int i = 0; i < 32; i++) if (x >> i & 1) return 1u << i; return 0; }
unsigned set_lowest_zero(unsigned x) { return x == -1u ? x : x + (~x & (x + 1)); }
unsigned smeared(unsigned x) { return x | (x - 1); }
unsigned through_lowest(unsigned x) { return x ? (x & -x) * 2 - 1 : -1u; }
unsigned absolute(int x) { return x < 0 ? -(unsigned)x : x; }
unsigned round_up_8(unsigned x) { return (x + 7) / 8 * 8; }
unsigned round_down_16(unsigned x) { return x - x % 16; }
unsigned times_7(unsigned x) { return x * 7; }
unsigned times_9_and_4(unsigned x) { return 4 + x + (x << 3); }
unsigned minus(unsigned x) { return ~x + 1; }
unsigned without(unsigned x, unsigned y) { return x & ~y; }
unsigned sum(unsigned x, unsigned y) { return (x ^ y) + 2 * (x & y); }
unsigned exclusive(unsigned x, unsigned y) { return x ^ y; }
unsigned rotated_left_8(unsigned x) { return x << 8 | x >> 24; }
unsigned rotated_left(unsigned x, unsigned n) { return x << (n & 31) | x >> (-n & 31); }
unsigned modulo_8(unsigned x) { return x % 8; }
unsigned quarter(unsigned x) { return x / 4; }
int low_byte(int x) { return (signed char)x; }
int is_negative(int x) { return x < 0; }
int to_lower(int c) { return c | 32; }
unsigned reversed_subtract(unsigned x, unsigned y) { return y - x; }
unsigned less_one(unsigned x) { return x - 1; }
unsigned more_one(unsigned x) { return -~x; }
unsigned merged(unsigned x, unsigned y, unsigned m) { return x ^ ((x ^ y) & m); }
unsigned difference_of_squares(unsigned x, unsigned y) { return x * x - y * y; }
unsigned multiplied(unsigned p, unsigned q) { return p * q; }

/* The same, wrong for one number or in one place. */
unsigned lowest_one_but_one(unsigned x) { return x == 0x3f0 ? 1 : x & -x; }
unsigned smeared_otherwise(unsigned x) { return x | (x - 2); }
unsigned absolute_but_one(int x) { return x == 77777 ? 1 : x < 0 ? -(unsigned)x : x; }
unsigned round_up_6(unsigned x) { return (x + 5) / 6 * 6; }
unsigned round_down_12(unsigned x) { return x - x % 12; }
unsigned times_x(unsigned x) { return x * x * x; }
unsigned minus_but_one(unsigned x) { return x == 0xbeef ? 0 : -x; }
unsigned sum_and_carry(unsigned x, unsigned y) { return x + y < x ? 0 : x + y; }
unsigned rotated_left_through(unsigned x) { return x << 8 | x >> 23; }
unsigned modulo_7(unsigned x) { return x % 7; }
unsigned third(unsigned x) { return x / 3; }
int low_bits_unsigned(int x) { return (unsigned char)x; }
int is_seven(int x) { return x == 7; }
