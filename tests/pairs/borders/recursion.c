/* Functions that call themselves, under every option of the contract. noclone and no unrolling: the calls stay. */
#define PLAIN __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls", "no-tree-tail-merge")))
int trace[64];

/* Below 0 the two differ; from 5 on one of them goes there. */
PLAIN int within(int n) { return n == 0 ? 0 : n < 0 ? 1 : 2 * within(n - 1); }
PLAIN int within_same(int n) { return n == 0 ? 0 : n < 0 ? 2 : within_same(n - 1) * 2; }
PLAIN int within_other(int n) { return n == 0 ? 0 : n < 0 ? 2 : within_other(n - 1) * 2 + 1; }
PLAIN int beyond(int n) { return n == 0 ? 0 : n < 0 ? 1 : n == 5 ? beyond(-1) : 2 * beyond(n - 1); }
PLAIN int beyond_other(int n) {
    return n == 0 ? 0 : n < 0 ? 2 : n == 5 ? beyond_other(-1) : beyond_other(n - 1) * 2;
}

/* As truth values they agree at every depth, but a caller that looks at the number sees more. */
PLAIN int truth(int n) { return n <= 0 ? 1 : truth(n - 1) ? 3 : 0; }
PLAIN int truth_same(int n) { return n <= 0 ? 2 : truth_same(n - 1) != 0; }
PLAIN int truth_other(int n) { return n <= 0 ? 2 : n != 3 && truth_other(n - 1); }
PLAIN int number(int n) { return n <= 0 ? 1 : number(n - 1) == 1; }
PLAIN int number_other(int n) { return n <= 0 ? 2 : number_other(n - 1) == 1; }

/* The result does not count, but what is done with it does. */
PLAIN int stored(int n, int *p) { if (n <= 0) return 7; *p = stored(n - 1, p) + n; return 1; }
PLAIN int stored_other(int n, int *p) { if (n <= 0) return 8; *p = stored_other(n - 1, p) + n; return 1; }
PLAIN int noted(int n, int *p) { if (n <= 0) return 7; noted(n - 1, p); *p += n; return 1; }
PLAIN int noted_same(int n, int *p) { if (n <= 0) return 8; noted_same(n - 1, p); *p = n + *p; return 2; }
PLAIN int noted_other(int n, int *p) { if (n <= 0) return 8; noted_other(n - 1, p); *p = n - *p; return 2; }

/* Memory does not count, but what the deeper call left there decides the result. */
PLAIN int left(int n) { if (n <= 0) { trace[0] = 1; return 0; } int r = left(n - 1); return r + trace[0]; }
PLAIN int left_other(int n) { if (n <= 0) { trace[0] = 2; return 0; } int r = left_other(n - 1); return r + trace[0]; }
PLAIN int kept(int n) { if (n <= 0) { trace[1] = 1; return 0; } return kept(n - 1) + 3; }
PLAIN int kept_same(int n) { if (n <= 0) { trace[1] = 2; return 0; } return 3 + kept_same(n - 1); }
PLAIN int kept_other(int n) { if (n <= 0) { trace[1] = 2; return 0; } return 4 + kept_other(n - 1); }

/* The deeper call may end the program. */
extern _Noreturn void leave(int);
PLAIN int ended(int n, int d) { if (n <= 0) leave(1); ended(n - 1, d); return n / d; }
PLAIN int ended_other(int n, int d) { if (n <= 0) leave(1); if (d == 0) return n / d; ended_other(n - 1, d); return n / d; }

/* A float that comes back may be any NaN. */
PLAIN float mean(float x, int n) { return n <= 0 ? x : mean(x, n - 1) * 0.5f; }
PLAIN float mean_same(float x, int n) { return n <= 0 ? x : 0.5f * mean_same(x, n - 1); }
PLAIN float mean_other(float x, int n) { return n <= 0 ? x : 0.25f * mean_other(x, n - 1); }

/* Even and odd call each other. */
PLAIN int odd(unsigned n);
PLAIN int even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }
PLAIN int odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }
