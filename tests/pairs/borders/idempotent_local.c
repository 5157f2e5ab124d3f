int g(int *);
int twice(int x) { int n = 1; g(&n); return g(&n) + n; }
int once(int x) { int n = 1; return g(&n) + n; }
int more(int x) { int n = 1; return g(&n) + n + 1; }
