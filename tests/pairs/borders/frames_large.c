int f(int x) { volatile char a[1600000]; a[x & 0xfffff] = 1; a[5] = 2; return a[x & 0xfffff]; }
int g(int x) { volatile char a[1600000]; a[x & 0xfffff] = 1; a[5] = 2; return a[x & 0xfffff] + (x == 5); }
int too_large(int x) { volatile char a[17000000]; a[x & 0xfffff] = 1; return a[x & 0xfffff]; }
