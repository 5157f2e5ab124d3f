/* A table of more functions than are looked at one by one in a small program; the last one may be another. */
#ifndef K
#define K 1
#endif
#define ONE(n) static int g##n(int x) { return x * n + 1; }
#define TEN(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
#define NAMES(n) g##n##0, g##n##1, g##n##2, g##n##3, g##n##4, g##n##5, g##n##6, g##n##7, g##n##8, g##n##9
TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7)
static int last(int x) { return x + K; }
typedef int (*function)(int);
static const function table[] = {NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5), NAMES(6), NAMES(7), last};
extern void reg(const function *);
void given(void) { reg(table); }
