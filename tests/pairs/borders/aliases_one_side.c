/* Two names of one function, in one of the files only. */
int first(int x) { return x + 1; }
extern int second(int) __attribute__((alias("first")));
int same(void) {
    int (*volatile one)(int) = first;
    int (*volatile other)(int) = second;
    return one == other;
}
