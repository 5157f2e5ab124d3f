#ifndef NUMBER
#define NUMBER 3
#endif

__attribute__((noipa)) int next(int x) { return x + 1; }
__attribute__((noipa)) int number(int x) { return NUMBER; }

int sum(int n, int which, int *p) {
  int (*last)(int) = which ? next : number;
  int s = 0;
  for (int i = 0; i < n; i++) s += p[i];
  if (s == 0x1234567) s = last(s) + 1;
  return s;
}
