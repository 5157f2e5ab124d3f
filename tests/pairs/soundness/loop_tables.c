#ifndef LAST
#define LAST 6
#endif

extern const int five, last;
const int five = 5, last = LAST;
extern const int *const some[1024], *const others[1024];
const int *const some[1024] = {[0 ... 899] = &five, [900] = &last, [901 ... 1023] = &five};
const int *const others[1024] = {[0 ... 1023] = &five};

int total(unsigned n, int which) {
  const int *const *p = which ? some : others;
  int s = 0;
  n = n > 1024 ? 1024 : n;
  while (n--) s += **p++;
  return s;
}
