extern int memory[64];
typedef int (*handler)(int);
static __attribute__((noinline)) int h(int x) { return x == 77; }
static __attribute__((noinline)) int k(int x) { return x * 5; }
static handler const t[] = {h, k};
int f(int x, int y) { return t[y & 1](x); }
