/* Functions that call themselves against functions that do not, under every option of the contract. */
#define PLAIN __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls", "no-tree-tail-merge", "no-tree-tail-recursion")))
int trace[64];

/* As truth values: the deeper result is 2 or 0, and the loop's is always 1. */
PLAIN int truth_number(int n) { return n <= 0 ? 2 : truth_number(n - 1) == 1; }
int truth_one(int n) { return 1; }
PLAIN int truth_only(int n) { return n <= 0 ? 2 : truth_only(n - 1) != 0; }

/* Memory does not count: only one of them leaves 1 in it. */
PLAIN int left_mark(int n) { if (n <= 0) { trace[0] = 2; return 1; } left_mark(n - 1); return trace[0] == 1; }
int left_mark_one(int n) { trace[0] = 1; return 1; }
PLAIN int left_alone(int n) { if (n <= 0) { trace[0] = 2; return 1; } return left_alone(n - 1); }

/* From 5 on the deeper call goes below 0, which --assume excludes. */
PLAIN int below(int n) { return n < 0 ? 1 : n == 0 ? 0 : n == 5 ? below(-1) : below(n - 1); }
int below_zero(int n) { return 0; }
PLAIN int above(int n) { return n < 0 ? 1 : n == 0 ? 0 : above(n - 1); }

/* The result does not count, but it is stored. */
PLAIN int stored_result(int n, int *p) { if (n <= 0) return 7; *p = stored_result(n - 1, p); return 7; }
int stored_eight(int n, int *p) { if (n > 0) *p = 8; return 8; }

/* Order of outside calls. */
void say(int);
PLAIN void down(int n) { if (n <= 0) return; say(n); down(n - 1); }
void down_loop(int n) { while (n > 0) { say(n); n--; } }
PLAIN void up(int n) { if (n <= 0) return; up(n - 1); say(n); }
void up_loop(int n) { for (int i = 0; i < n; i++) say(i + 1); }

/* A global variable written before and after the deeper call. */
int level;
PLAIN int deep(int n) { if (n <= 0) return level; level++; int r = deep(n - 1); level--; return r; }
PLAIN int deep_up(int n) { if (n <= 0) return level; level++; int r = deep_up(n - 1); return r; }
int deep_sum(int n) { return n <= 0 ? level : level + n; }

/* An address of the own frame is passed down. */
PLAIN int local(int *p, int n) { int own = n; if (n <= 0) return *p; return local(&own, n - 1); }
int local_one(int *p, int n) { return n <= 0 ? *p : 1; }

/* More arguments than registers. */
PLAIN int many(int a, int b, int c, int d, int e, int f, int g, int h) {
    return a <= 0 ? g - h : many(a - 1, b, c, d, e, f, h, g);
}
int many_loop(int a, int b, int c, int d, int e, int f, int g, int h) {
    while (a > 0) { int t = g; g = h; h = t; a--; }
    return g - h;
}
int many_straight(int a, int b, int c, int d, int e, int f, int g, int h) { return g - h; }

/* Ends only for some. */
PLAIN int ends_at_five(int n) { return n == 5 ? 35 : ends_at_five(n); }
PLAIN int ends_nowhere(int n) { return ends_nowhere(n); }
int seven(int n) { return 7 * n; }

/* The smallest number. */
PLAIN int to_zero(int n) { return n == 0 ? 0 : 1 + to_zero(n < 0 ? n + 1 : n - 1); }
int to_zero_size(int n) { return n < 0 ? 0 - (unsigned)n : n; }
int to_zero_positive(int n) { return n < 0 ? n == -2147483647 - 1 ? 0 : -n : n; }

/* Divides by zero where the deeper call does. */
PLAIN int divided(int n, int d) { return n <= 0 ? 10 / d : divided(n - 1, d) + 1; }
int divided_loop(int n, int d) { int r = 10 / d; while (n > 0) { r++; n--; } return r; }
int divided_late(int n, int d) { int r = 0; if (n > 0 && d == 0) return 1; while (n > 0) { r++; n--; } return r + 10 / d; }

/* The loop-free one leaves its table where only deeper calls of the other one lead, and no test leads there. */
char table[8];
#define HIGHEST (1ul << 63)
unsigned long looked_up(unsigned long n) { if (n & HIGHEST) { (void)*(volatile char *)&table[n]; return 5; } return n; }
PLAIN unsigned long not_looked_up(unsigned long n) {
    if (n & HIGHEST) return 0;
    if (n * 0x9e3779b97f4a7c15 == 0x1234567890abcdef) return not_looked_up(n | HIGHEST) - 5 + n;
    return n - 1 < 99 ? not_looked_up(n - 1) + 1 : n;
}

/* Results that differ for one number. */
int below_six(int n) { return n == 6 ? 2 : 0; }
int truth_but_seven(int n) { return n != 7; }
int deep_nine(int n) { return n <= 0 ? level : level + n + (n == 9); }
int left_four(int n) { trace[0] = 1; return n != 4; }
int to_zero_twelve(int n) { return n < 0 ? 0 - (unsigned)n : n == 12 ? 11 : n; }
