void swap(long *a, long *b) { long t = *a; *a = *b; *b = t; }
void swap_two(long *a, long *b) { long x = *a, y = *b; *a = y; *b = x; }
void swap_xor(long *a, long *b) { *a ^= *b; *b ^= *a; *a ^= *b; }

int sum(const int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
int sum_pointer(const int *p, int n) { int s = 0; const int *e = p + (n > 0 ? n : 0); while (p != e) s += *p++; return s; }
int sum_broken(const int *p, int n) { int s = 0; const int *e = p + (n > 0 ? n : 0); while (p != e) s += *p++; return s + (n == 3); }
