/* Arrays that are passed on the stack, indexed. */
struct words { long at[4]; };
long chosen(struct words v, int i) { return v.at[i & 3]; }
long chosen_broken(struct words v, int i) { return v.at[(i + 1) & 3]; }
long set(struct words v, int i, long x) { v.at[i & 3] = x; return v.at[1] + v.at[i >> 2 & 3]; }
long set_broken(struct words v, int i, long x) { v.at[i & 3] = x; return v.at[1] + v.at[i >> 3 & 3]; }
/* A 32-bit compare-and-exchange. */
int swapped(int *p, int e) { return __atomic_compare_exchange_n(p, &e, 1, 0, 5, 5) ? 1 : e; }
int swapped_broken(int *p, int e) { return __atomic_compare_exchange_n(p, &e, 2, 0, 5, 5) ? 1 : e; }
