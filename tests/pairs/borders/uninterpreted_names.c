static __attribute__((noinline)) int first(int a) { return a; }
static __attribute__((noinline)) int second(int a) { return a; }
int through_first(int a) { return first(a); }
int through_second(int a) { return second(a); }
