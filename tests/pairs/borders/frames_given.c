/* Locals whose address is given to outside functions. */
#include <stddef.h>

struct point { int x, y; long z; };
struct piece { char *start; size_t size; };
extern int *shared;
extern int total;

int number(int *);
int numbers(int *, int *);
int place(struct point *);
int fill(char *, int);
char *find(char *, int);
int emit(struct piece *, int);
void keep(int *);
int work(void);
size_t strlen(const char *);
_Noreturn void fatal(struct point *);

/* The callee writes it. */
int read_back(int k) { int n = k; if (number(&n) < 0) return -1; return n + k; }
int read_back_broken(int k) { int n = k; if (number(&n) < 0) return -1; return n - k; }

/* Given on one path only. */
int sometimes(int x) { int a = x; if (x > 3) number(&a); return a + 1; }
int sometimes_broken(int x) { int a = x; if (x >= 3) number(&a); return a + 1; }

/* A structure; the callee may read and write all of it. */
int placed(int a, int b) { struct point p = {a, b, (long)a + b}; int r = place(&p); return r + p.x - p.y; }
int placed_broken(int a, int b) { struct point p = {a, b, (long)a + b}; int r = place(&p); return r + p.x - p.y + 1; }

/* An index that stays inside. */
int indexed(int i) { char b[64]; fill(b, 64); return b[i & 63]; }
int indexed_broken(int i) { char b[64]; fill(b, 64); return b[i & 31] + (i < 0); }

/* A pointer that comes back points into it: compared, subtracted, followed. */
long found(char c) { char b[16]; b[0] = c; b[1] = 0; char *p = find(b, 3); if (p == b) return 0; return p - b; }
long found_broken(char c) { char b[16]; b[0] = c; b[1] = 0; char *p = find(b, 4); if (p == b) return 0; return p - b; }
int followed(int c) { char b[16] = {0}; b[3] = c; char *p = find(b, 3); return p ? *p : -1; }
int followed_broken(int c) { char b[16] = {0}; b[3] = c; char *p = find(b, 3); return p ? *p : -2; }

/* The address of a local in a local. */
int emitted(char *text, size_t n) {
    char head[4] = {1, 2, 3, 4};
    struct piece pieces[2] = {{head, 4}, {text, n}};
    return emit(pieces, 2);
}
int emitted_broken(char *text, size_t n) {
    char head[4] = {1, 2, 3, 4};
    struct piece pieces[2] = {{head, 4}, {text, n}};
    return emit(pieces, 2) + 1;
}

/* Nobody else has its address: a pointer that was passed in does not point to it. */
int apart(int *p, int x) { int a = x; number(&a); *p = 3; return a; }
int apart_early(int *p, int x) { int a = x; number(&a); int r = a; *p = 3; return r; }
int apart_broken(int *p, int x) { int a = x; number(&a); *p = 4; return a; }

/* In functions that the compiler inlines, or not. */
static int asked(int k) { int t = k; number(&t); return t; }
int twice(int k) { return asked(k) + asked(k + 1); }
int twice_broken(int k) { return asked(k) + asked(k + 1) + 1; }

/* The variables of two calls do not exist during other calls, inlined or not. */
static int kept(int k) { int t = k; keep(&t); return t; }
int between(int k) { int r = kept(k); r += work(); r += kept(k + 1); return r + work(); }
int between_broken(int k) { int r = kept(k); r += work(); r += kept(k + 1); return r; }

/* What comes next is not the same, though no run of a callee that forgets the address shows it. */
int swapped_1(int x) { int a = x, b = x + 1; numbers(&a, &b); return a - b; }
int swapped_2(int x) { int a = x, b = x + 1; numbers(&b, &a); return a - b; }
int kept_1(int x) { int a = x; keep(&a); work(); return a; }
int kept_2(int x) { int a = x; keep(&a); int r = a; work(); return r; }
int stored_1(int x) { int a = x; shared = &a; work(); int r = a; shared = 0; return r; }
int stored_2(int x) { int a = x; shared = &a; work(); shared = 0; return x; }
int aliased_1(int x) { int a = x; keep(&a); *shared = 3; return a; }
int aliased_2(int x) { int a = x; keep(&a); int r = a; *shared = 3; return r; }
int overwritten_1(int x) { char b[8] = {1, 2, 3, 4, 5, 6, 7, 8}; char *p = find(b, x); *p = 9; return b[2]; }
int overwritten_2(int x) { char b[8] = {1, 2, 3, 4, 5, 6, 7, 8}; char *p = find(b, x); int r = b[2]; *p = 9; return r; }
int ends_1(int x) { char b[8] = {0}; char *p = find(b, x); return p == b + 8; }
int ends_2(int x) { char b[8] = {0}; char *p = find(b, x); return p == b + 7; }
int inner_1(int x) { char b[4] = {1, 2, 3, 4}; struct piece v = {b, 4}; emit(&v, x); return b[0]; }
int inner_2(int x) { char b[4] = {1, 2, 3, 5}; struct piece v = {b, 4}; emit(&v, x); return b[0]; }
int other_1(int x) { char b[4] = {1, 2}, c[4] = {1, 2}; fill(c, 1); struct piece v = {b, 4}; return emit(&v, x); }
int other_2(int x) { char b[4] = {1, 2}, c[4] = {1, 2}; fill(c, 1); struct piece v = {c, 4}; return emit(&v, x); }
int sized_1(int x) { char b[8]; return fill(b, 4) + b[0]; }
int sized_2(int x) { char b[16]; return fill(b, 4) + b[0]; }
int left_1(int i) { int t[4] = {1, 2, 3, 4}; number(t); return t[i]; }
int left_2(int i) { int t[4] = {1, 2, 3, 4}; number(t); return t[i]; }
int gone_1(int x) { int t = x; keep(&t); work(); return 0; }
static __attribute__((noinline)) void told(int x) { int t = x; keep(&t); }
int gone_2(int x) { told(x); work(); return 0; }
int reused_1(int x) { int t = x; keep(&t); int u = 5; number(&u); return 0; }
int reused_2(int x) { { int t = x; keep(&t); } { int u = 5; number(&u); } return 0; }
int jumped_1(int x) { int t = x; keep(&t); int r = work(); return r; }
int jumped_2(int x) { { int t = x; keep(&t); } return work(); }
int copied_1(int a, int b, int c, int d, int e, int f, int x) { number(&x); return x; }
int copied_2(int a, int b, int c, int d, int e, int f, int x) { int y = x; number(&y); return y; }
