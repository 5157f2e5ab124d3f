/* The rewrite returns something from which the target's result is computed. */
int quotient(int n) { return (n & 0x7fff) / 10; }
int quotient_plus_one(int n) { return (n & 0x7fff) / 10 + 1; }
int not_equal(int a, int b) { return a != b; }
int equal(int a, int b) { return a == b; }
int greatest(int a, int b) { return a > b ? a : b; }
int least(int a, int b) { return a < b ? a : b; }
int least_of_both(int a, int b) { int m = a < b ? a : b; return a + b - m; }
unsigned reversed(unsigned x) { unsigned r = 0; for (int i = 0; i < 32; i++) r |= (x >> i & 1) << (31 - i); return r; }
unsigned reversed_upper(unsigned x) { unsigned r = 0; for (int i = 0; i < 32; i++) r |= (x >> i & 1) << (31 - i); return r >> 16; }
long counted(unsigned long x) { long n = 0; for (int i = 0; i < 64; i++) n += x >> i & 1; return n; }
int zeros(unsigned long x) { int n = 0; for (int i = 0; i < 64; i++) n += !(x >> i & 1); return n; }
int is_upper(int c) { return c >= 'A' && c <= 'Z'; }
int is_not_upper_mask(int c) { return c < 'A' || c > 'Z' ? -1 : 0; }
