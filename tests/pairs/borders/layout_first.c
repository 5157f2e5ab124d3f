/* The first object of a section is not the section: what is behind it may be anywhere. And what is not at the start of
   its section is known by its own place. */
#ifndef SLACK
#define SLACK 0
#endif
#ifndef SECOND
#define SECOND 2
#endif
typedef unsigned long word;

int a, b;
static const int same[40] = {1, 2, 3, 4};
static const int table[4] = {1, SECOND, 3, 4};
int use(const int *);

int order(void) { return (word)&a < (word)&b; }
int no(void) { return 0; }
int yes(void) { return 1; }
int given(int i) { return use(&table[i & 3]); }
int ends_alike(void) { return (word)"hello world" + 6 == (word)"world"; }
int are_apart(void) { return (word)"hello world" + 6 == (word)"earth"; }
int beside(int i) { return use(&same[(i + SLACK) & 3]) + table[0]; }
