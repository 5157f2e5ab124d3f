/* A loop on one side only. */
unsigned triangle(unsigned n) { unsigned s = 0; for (unsigned i = 0; i < 32; i++) if (i < n) s += i; return s; }
unsigned counted(unsigned x) { unsigned n = 0; while (x) { n += x & 1; x >>= 1; } return n; }
unsigned counted_parallel(unsigned x, unsigned y) {
    x = x - (x >> 1 & 0x55555555);
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = x + (x >> 4) & 0x0f0f0f0f;
    return (x * 0x01010101 >> 24) + y;
}
unsigned counted_zeros(unsigned x) { unsigned n = 0; for (int i = 0; i < 32; i++) n += !(x >> i & 1); return n; }
unsigned power_of_two(unsigned n) { unsigned r = 1; for (unsigned i = 0; i < 31; i++) if (i < n) r *= 2; return r; }
unsigned shifted(unsigned v, unsigned n) { return v << (n & 31); }
unsigned doubled_sum(unsigned n) { unsigned s = 0; for (unsigned i = 0; i < 16; i++) s += n; return s; }
unsigned times(unsigned v, unsigned k) { return v * k; }
