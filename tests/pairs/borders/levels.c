/* One source at two levels: nothing here is a difference. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

double _Complex product(double _Complex x, double _Complex y) { return x * y; }
int length(char *text) { return sprintf(text, "abc%d", 7); }
double root(double x, int *error) { errno = 0; double r = sqrt(x); *error = errno; return r; }
int sized(int n) { int a[n > 0 ? n : 1]; a[0] = n; return a[0]; }

int called(int);
int compared(int (*p)(int), int x) { return p == called ? called(x) : p(x); }
int called_through(int (*p)(int), int x) { return p(x); }

#ifndef K
#define K 1
#endif
int first = K;
void overwritten(void) { if (first & 4) first = 9; else first = 8; }
