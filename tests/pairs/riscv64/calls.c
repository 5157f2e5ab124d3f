extern int f(int);
extern unsigned char narrow(int);

int tail(int x) { return f(x + 1); }
int kept(int x) { int y = f(1 + x); __asm__ volatile("" ::: "memory"); return y; }
int kept_broken(int x) { int y = f(x); __asm__ volatile("" ::: "memory"); return y; }

int sum_of_two(int x) { return f(x) + f(x + 1); }
int sum_in_steps(int x) { int s = f(x); s += f(x + 1); return s; }
int sum_broken(int x) { int s = f(x); s += f(x + 1); return s & 0x7fffffff; }

unsigned widened(int x) { return narrow(x); }
unsigned masked(int x) { return narrow(x) & 0xff; }
unsigned masked_broken(int x) { return narrow(x) & 0x7f; }
