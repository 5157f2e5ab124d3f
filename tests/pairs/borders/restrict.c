/* What `restrict` in a declaration says of overlapping pointers, and what it does not. */

struct node { int value; struct node *next; };
struct two { int *restrict to; const int *restrict from; };

int counter;

/* The read may move over the store: both are declared. */
int set_then_read(int *restrict p, const int *restrict q) { *p = 1; return *q; }
int read_then_set(int *restrict p, const int *restrict q) { int r = *q; *p = 1; return r; }
int read_then_set_two(int *restrict p, const int *restrict q) { int r = *q; *p = 2; return r; }

/* Nobody but the target can promise it. */
int plain_set_then_read(int *p, const int *q) { *p = 1; return *q; }
int plain_read_then_set(int *p, const int *q) { int r = *q; *p = 1; return r; }
int plain_read_then_set_two(int *p, const int *q) { int r = *q; *p = 2; return r; }

/* Two pointers computed from one parameter may overlap. */
int own_part(int *restrict p, long n) { int *q = p + n; *p = 1; return *q; }
int own_part_early(int *restrict p, long n) { int *q = p + n; int r = *q; *p = 1; return r; }

/* What is not modified may overlap. */
int same_place(const int *restrict p, const int *restrict q) { return *p + *q; }
int same_place_told(const int *restrict p, const int *restrict q) { return p == q ? 7 : *p + *q; }

/* Where they are the same, the target accesses nothing. */
int guarded(int *restrict p, const int *restrict q) { if (p == q) return 1; *p = 2; return *q; }
int guarded_less(int *restrict p, const int *restrict q) { if (p == q) return 3; int r = *q; *p = 2; return r; }
int guarded_early(int *restrict p, const int *restrict q) { if (p == q) return 1; int r = *q; *p = 2; return r; }

/* Members that are declared restrict are not parameters. */
int members(struct two *s) { *s->to = 1; return *s->from; }
int members_early(struct two *s) { int r = *s->from; *s->to = 1; return r; }

/* A pointer in memory was not computed from the parameter, but it may have been assigned to it. */
int following(struct node *restrict p) { p->value = 1; p = p->next; return p->value; }
int following_early(struct node *restrict p) { int r = p->next->value; p->value = 1; return r; }

/* A variable is no parameter, either. */
int counted(int *restrict p) { *p = 5; return counter; }
int counted_early(int *restrict p) { int r = counter; *p = 5; return r; }
int counted_early_six(int *restrict p) { int r = counter; *p = 6; return r; }
int plain_counted(int *p) { *p = 5; return counter; }

/* Only one of three: the others may overlap. */
int one_of_three(int *restrict p, int *q, const int *r) { *q = 2; *p = 1; return *r; }
int one_of_three_over(int *restrict p, int *q, const int *r) { *q = 2; int v = *r; *p = 1; return v; }
int one_of_three_over_both(int *restrict p, int *q, const int *r) { int v = *r; *q = 2; *p = 1; return v; }

/* Where the target returns early, it accesses only one. */
int perhaps(int *restrict p, const int *restrict q, int n) { *p = 1; return n > 0 ? *q : 0; }
int perhaps_early(int *restrict p, const int *restrict q, int n) { int r = n > 0 ? *q : 0; *p = 1; return r; }
int perhaps_copied(int *restrict p, int *restrict q, int n) { int r = *q; *p = 1; *q = r; return n > 0 ? r : 0; }

/* A store counts, whatever was there before. */
int kept(int *restrict p, const int *restrict q) { int r = *p; *p = r; return *q; }
int kept_told(int *restrict p, const int *restrict q) { return p == q ? 9 : *q; }
int kept_less(int *restrict p, const int *restrict q) { return *q + 1; }

/* Where they are equal, compilers use the variable's address in the place of the parameter. */
int counted_there(int *restrict p) { if (p == &counter) *p = 7; return *p; }
int counted_nowhere(int *restrict p) { return *p; }
int counted_anywhere(int *restrict p) { return *p + 1; }

/* The product leaves flags undefined, and nothing overwrites them before the end. */
int scaled(int *restrict p, const int *restrict q, int n) { *p = 1; return *q * n; }
int scaled_early(int *restrict p, const int *restrict q, int n) { int r = n * *q; *p = 1; return r; }
int scaled_else(int *restrict p, const int *restrict q, int n) { int r = n * *q; *p = n == 77777 ? 2 : 1; return r; }
