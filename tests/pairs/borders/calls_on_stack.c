/* A large structure is passed on the stack whichever registers are free. */
#ifndef K
#define K 0
#endif
struct large { signed char a; unsigned __int128 b; float c[3]; };
int variadic(int, ...);
int undeclared();
int f(long a, long b, int c, struct large d) { d.a ^= K; return variadic(4, a, b, c, d) + 1; }
int h_wrong(long a, long b, int c) { return undeclared(4, a, b, c) + 2; }
int g(long a, long b, int c, struct large d) { d.a ^= K; return undeclared(4, a, b, c, d) + 1; }
int h(long a, long b, int c) { return undeclared(4, a, b, c) + 1; }
