/* Two names of one thread-local variable, or two variables. */
__thread int one = 3;
#ifdef ALIAS
extern __thread int other __attribute__((alias("one")));
#else
__thread int other = 3;
#endif
int stores(int x) {
    volatile int *p = &one, *q = &other;
    *p = x;
    *q = x + 1;
    return *p;
}
