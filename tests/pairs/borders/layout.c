/* Where objects are is the linker's business: nothing follows from where isoform itself places them. */
#ifndef SLACK
#define SLACK 0
#endif
typedef unsigned long word;

int a, b;
extern int outside, beyond;
extern _Alignas(16) char aligned[64];
int array[16];
static const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6 + SLACK};
static const char *const names[3] = {"red", "green", "blue"};
static int *const places[2] = {&a, &b};

int yes(void) { return 1; }
int no(void) { return 0; }

int order(void) { return (word)&a < (word)&b; }
int order_outside(void) { return (word)&outside < (word)&beyond; }
int apart(void) { return &a != &b; }
int is_set(void) { return &a != 0; }
int low(void) { return (word)&a >> 31 == 0; }
int rounded(void) { return ((word)&a & 15) == 0; }
int page(void) { return ((word)&a & 0xff000) == 0; }
int word_aligned(void) { return ((word)&a & 3) == 0; }
int number(void) { return (word)&a == 0x10000040; }
word distance(void) { return (word)&b - (word)&a; }
word four(void) { return 4; }
int before(int *p) { return (word)p < (word)&a + SLACK; }
word hash(void) { return ((word)&a * 0x9e3779b97f4a7c15 >> 40) + SLACK; }
int *place(int i) { return places[i & 1] + SLACK; }
const char *name(unsigned i) { return names[(i + SLACK) % 3]; }
int look(unsigned i) { return table[i & 7]; }
int both(int x) { a = x; b = x + 1; return a + b + SLACK; }
int through(int *p, int x) { *p = x; return a + SLACK; }
int sum(void) { int s = 0; for (int i = 0; i < 16; i++) s += array[i]; return s + SLACK; }
int total(int n) { int s = 0; for (int i = 0; i < n; i++) s += table[i & 7] * a; return s; }
int last(int n) { int s = 0; for (int *p = array; p != array + 16; p++) if (*p == n) s = p - array; return s + SLACK; }
