/* Weak symbols that nothing may define: their address is null then. */
extern int hook(int) __attribute__((weak));
extern int other(int) __attribute__((weak));
extern int limit __attribute__((weak));

int guarded(int x) { return hook ? hook(x) : x; }
int guarded_other(int x) { return hook ? hook(x) : x + (x == 77); }
int unguarded(int x) { return hook(x); }
int two(int x) {
    int s = 0;
    if (hook) s += hook(x);
    if (other) s += other(s);
    return s;
}
int two_mixed(int x) {
    int s = 0;
    if (hook) s += hook(x);
    if (hook) s += other(s);
    return s;
}
int bounded(int x) { return &limit && x > limit ? limit : x; }
int bounded_wrong(int x) { return &limit ? (x > limit ? limit : x) : 0; }
