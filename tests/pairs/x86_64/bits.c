/* Bit tricks against the plain way to say the same. */

int absolute(int x) { return x < 0 ? (int)-(unsigned)x : x; }
int absolute_rewrite(int x) {
    unsigned mask = x >> 31;
    return (int)(((unsigned)x ^ mask) - mask);
}
int absolute_broken(int x) { return x ^ (x >> 31); }

int minimum(int x, int y) { return x < y ? x : y; }
int minimum_rewrite(int x, int y) { return y ^ ((x ^ y) & -(x < y)); }
int minimum_broken(int x, int y) { return y ^ ((x ^ y) & -((unsigned)x < (unsigned)y)); }

int sign(int x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
int sign_rewrite(int x) { return (x >> 31) | (int)(-(unsigned)x >> 31); }
int sign_broken(int x) { return (x >> 31) + (int)(-(unsigned)x >> 31); }

unsigned population(unsigned x) {
    x = x - ((x >> 1) & 0x55555555u);
    x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0fu;
    return (x * 0x01010101u) >> 24;
}
unsigned population_rewrite(unsigned x) {
    x = (x & 0x55555555u) + ((x >> 1) & 0x55555555u);
    x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
    x = (x & 0x0f0f0f0fu) + ((x >> 4) & 0x0f0f0f0fu);
    x = (x & 0x00ff00ffu) + ((x >> 8) & 0x00ff00ffu);
    return (x & 0xffffu) + (x >> 16);
}
unsigned population_broken(unsigned x) {
    x = (x & 0x55555555u) + ((x >> 1) & 0x55555555u);
    x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
    x = (x + (x >> 4)) & 0x0f0f0f07u;
    return (x * 0x01010101u) >> 24;
}
unsigned population_builtin(unsigned x) { return __builtin_popcount(x); }
unsigned population_loop(unsigned x) {
    unsigned count = 0;
    for (int i = 0; i < 32; i++)
        count += (x >> i) & 1;
    return count;
}
unsigned population_loop_broken(unsigned x) {
    unsigned count = 0;
    for (int i = 0; i < 31; i++)
        count += (x >> i) & 1;
    return count;
}

int power_of_two(unsigned x) { return x != 0 && (x & (x - 1)) == 0; }
int power_of_two_rewrite(unsigned x) { return (x ^ (x - 1)) > x - 1; }
int power_of_two_broken(unsigned x) { return (x & (x - 1)) == 0; }

unsigned round_up(unsigned x) { return (x + 7) & ~7u; }
unsigned round_up_rewrite(unsigned x) { return x + (-x & 7); }
unsigned round_up_broken(unsigned x) { return (x | 7) + 1; }

unsigned next_power(unsigned x) {
    x--;
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    x |= x >> 16;
    return x + 1;
}
unsigned next_power_rewrite(unsigned x) {
    if (x <= 1)
        return x;
    return x > 0x80000000u ? 0 : 1u << (32 - __builtin_clz(x - 1));
}
unsigned next_power_broken(unsigned x) {
    x--;
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    return x + 1;
}

unsigned swap_bytes(unsigned x) {
    return x >> 24 | (x >> 8 & 0xff00u) | (x << 8 & 0xff0000u) | x << 24;
}
unsigned swap_bytes_rewrite(unsigned x) {
    x = (x >> 16) | (x << 16);
    return (x & 0x00ff00ffu) << 8 | (x & 0xff00ff00u) >> 8;
}
unsigned swap_bytes_broken(unsigned x) {
    return x >> 24 | (x >> 8 & 0xff00u) | (x << 8 & 0xfe0000u) | x << 24;
}

unsigned average(unsigned x, unsigned y) { return (unsigned)(((unsigned long)x + y) / 2); }
unsigned average_rewrite(unsigned x, unsigned y) { return (x & y) + ((x ^ y) >> 1); }
unsigned average_broken(unsigned x, unsigned y) { return (x + y) / 2; }

int parity(unsigned x) {
    x ^= x >> 16;
    x ^= x >> 8;
    x ^= x >> 4;
    return (0x6996 >> (x & 15)) & 1;
}
int parity_rewrite(unsigned x) { return __builtin_parity(x); }
int parity_broken(unsigned x) {
    x ^= x >> 16;
    x ^= x >> 4;
    return (0x6996 >> (x & 15)) & 1;
}

unsigned reverse(unsigned x) {
    x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
    x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
    x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
    return __builtin_bswap32(x);
}
unsigned reverse_rewrite(unsigned x) {
    x = x << 16 | x >> 16;
    x = (x & 0x00ff00ffu) << 8 | (x >> 8 & 0x00ff00ffu);
    x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
    x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
    return (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
}
unsigned reverse_broken(unsigned x) {
    x = x << 16 | x >> 16;
    x = (x & 0x00ff00ffu) << 8 | (x >> 8 & 0x00ff00ffu);
    x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
    x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
    return (x & 0x55555555u) << 1 | (x >> 1 & 0x55555554u);
}

unsigned rotate(unsigned x, unsigned n) { return x << (n & 31) | x >> (-n & 31); }
unsigned rotate_rewrite(unsigned x, unsigned n) { return x << n | x >> (32 - n); }
unsigned rotate_broken(unsigned x, unsigned n) { return x >> n | x << (32 - n); }

unsigned long interleave(unsigned short x) {
    unsigned long bits = x;
    bits = (bits | bits << 8) & 0x00ff00ffu;
    bits = (bits | bits << 4) & 0x0f0f0f0fu;
    bits = (bits | bits << 2) & 0x33333333u;
    return (bits | bits << 1) & 0x55555555u;
}
unsigned long interleave_rewrite(unsigned short x) {
    unsigned long bits = 0;
    for (int i = 0; i < 16; i++)
        bits |= (x >> i & 1ul) << 2 * i;
    return bits;
}
unsigned long interleave_broken(unsigned short x) {
    unsigned long bits = 0;
    for (int i = 0; i < 15; i++)
        bits |= (x >> i & 1ul) << 2 * i;
    return bits;
}
