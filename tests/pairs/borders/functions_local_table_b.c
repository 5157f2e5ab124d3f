/* Functions in an array on the stack, called by an index: what the array holds is no constant to the encoder. */
typedef int (*handler)(int);
static __attribute__((noinline)) int one(int x) { return x == 70078; }
static __attribute__((noinline)) int two(int x) { return x > 7 ? x : 7; }
int chosen(int x, int y) { handler table[2]; table[0] = one; table[1] = two; return table[y & 1](x); }
int only_two(int x, int y) { handler table[2]; table[0] = two; table[1] = two; return table[y & 1](x); }
int only_two_wrong(int x, int y) { handler table[2]; table[0] = two; table[1] = two; return table[y & 1](x) + 1; }
