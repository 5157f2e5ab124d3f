int put(int);
void traps(int a) { put(a); __builtin_trap(); }
void traps_next(int a) { put(a + 1); __builtin_trap(); }
int divided(int a, int b) { put(b); int r = a / b; put(r); return r; }
int divided_told(int a, int b) { if (b == 0) put(1); put(b); int r = a / b; put(r); return r; }
int counted(int n, int b) { int s = 0; for (int i = 0; i < n; i++) { put(i); s += i / b; } return s; }
int counted_told(int n, int b) { int s = 0; for (int i = 0; i < n; i++) { put(b == 0 ? 7 : i); s += i / b; } return s; }
