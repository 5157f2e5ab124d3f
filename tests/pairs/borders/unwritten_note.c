static int v = 1;
#ifdef NOTE
__attribute__((section(NOTE))) int *const held = &v;
#endif
int reads(int x) { return x + v; }
int adds(int x) { return x + 1; }
int adds_two(int x) { return x + 2; }
