#include <errno.h>
#include <stdlib.h>
#include <math.h>

/* malloc may set errno. */
void *asked(unsigned long n, int *e) { errno = 0; void *p = malloc(n); *e = errno; return p; }
void *asked_again(unsigned long n, int *e) { errno = 0; void *p = malloc(n); *e = errno + 0 * n; return p; }
void *asked_wrong(unsigned long n, int *e) { errno = 0; void *p = malloc(n); *e = errno + 1; return p; }
void *not_asked(unsigned long n, int *e) { errno = 0; void *p = malloc(n); *e = 0; return p; }

/* The distance of two infinities is 0 or infinite, and no NaN. */
double distance(double x, double y) { return fdim(x, y); }
double distance_written_out(double x, double y) { return x != x || y != y ? x + y : x > y ? x - y : 0.0; }
double distance_wrong(double x, double y) { return x != x || y != y ? x + y : x > y ? x - y : x - y; }
