int average(int a, int b) { return (a & b) + ((a ^ b) >> 1); }
int average_wide(int a, int b) { return (int)(((long)a + b) >> 1); }
int average_narrow(int a, int b) { return (int)((unsigned)a + (unsigned)b) >> 1; }

int passed(int a, int b, int c, int d, int e, int f, int g, int h, int i, short j) { return a + b + c + d + e + f + g + h + i - j; }
int passed_other(int a, int b, int c, int d, int e, int f, int g, int h, int i, short j) { return i - j + h + g + f + e + d + c + b + a; }
int passed_broken(int a, int b, int c, int d, int e, int f, int g, int h, int i, short j) { return i - (unsigned short)j + h + g + f + e + d + c + b + a; }

static __attribute__((noinline)) int step(int x) { return 3 * x + 1; }
int steps(int x) { return step(step(x)); }
int steps_inline(int x) { return 9 * x + 4; }
int steps_broken(int x) { return 9 * x + 3; }

unsigned small(unsigned char c) { return c < 'a' ? c : c - 32; }
unsigned small_wide(unsigned char c) { unsigned long w = c; return w >= 'a' ? w - 32 : w; }
unsigned small_broken(unsigned char c) { return c > 'a' ? c - 32 : c; }
