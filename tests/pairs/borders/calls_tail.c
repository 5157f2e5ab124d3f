/* Tail calls with arguments on the stack: they are written over the caller's own. */
#ifndef K
#define K 0
#endif
int declared(long, long, long, long, long, long, long, long);
int undeclared();
int variadic(int, ...);

int to_declared(long a, long b, long c, long d, long e, long f, long g, long h)
{
    return declared(a, b, c, d, e, f, h ^ K, g);
}

int to_undeclared(long a, long b, long c, long d, long e, long f, long g, long h)
{
    return undeclared(a, b, c, d, e, f, h ^ K, g);
}

int to_variadic(long a, long b, long c, long d, long e, unsigned f, unsigned g)
{
    return variadic(9, a, b, c, d, e, g ^ K, f);
}
