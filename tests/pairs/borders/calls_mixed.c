/* Calls of one function that do not pass the same number of arguments, and calls through pointers of unknown type. */
#ifndef K
#define K 0
#endif
int variadic(int, ...);
int fcntl(int, int, ...);
typedef void (*taking_one)(int);
struct operations { taking_one first; void *other; };

int twice(int x) { return variadic(1) + variadic(2, x + K); }
int flags(int file, int more) { return fcntl(file, 4, fcntl(file, 3) | (more + K)); }
void cast(struct operations *o, int x, int y) { o->first(1); ((void (*)(int, int))o->other)(x, y + K); }
int pointed(int (*h)(int, ...), int x) { return h(1, 2, 3, 4, 5, 6, 7, x + K) + 1; }

/* The number is looked at before it is passed. */
int looked_at(int x, int *q) { int r = variadic(1); x |= K + 1; if (x < 0) *q = r; return variadic(2, x) + 1; }
