/* The difference is in a function that is called through a pointer. */

static int plus(int x) { return x + 1; }
static int times(int x) { return x * 3; }
static int times_other(int x) { return x * 5; }

static int (*const table[])(int) = {plus, times};
static int (*const table_other[])(int) = {plus, times_other};

int in_table(int x) { return table[x & 1](x); }
int in_table_other(int x) { return table_other[x & 1](x); }

__attribute__((noinline)) static int seventh(int x) {
    return x * 7 + 1;
}
__attribute__((noinline)) static int seventh_other(int x) {
    return x * 9 + 1;
}
int in_callee(int x) { return seventh(x); }
int in_callee_other(int x) { return seventh_other(x); }
