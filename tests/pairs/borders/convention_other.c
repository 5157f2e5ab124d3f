/* Functions that follow another calling convention than the usual one. */
#define MICROSOFT __attribute__((ms_abi))

extern MICROSOFT long ask(long first, long second);
extern MICROSOFT double scale(long first, double second);

long asks(long a, long b) { return ask(a, b) + 1; }
long asks_swapped(long a, long b) { return ask(b, a) + 1; }

double scales(long a, long b, double x, double y) { return scale(a, x) + 1; }
double scales_other(long a, long b, double x, double y) { return scale(a, y) + 1; }

long through(MICROSOFT long (*p)(long, long), long a, long b) { return p(a, b) + 1; }
long through_swapped(MICROSOFT long (*p)(long, long), long a, long b) { return p(b, a) + 1; }

MICROSOFT long taken(long a, long b) { return a - b; }
MICROSOFT long taken_swapped(long a, long b) { return b - a; }

MICROSOFT long many(long a, long b, long c, long d, long e, long f) { return a - b + c * d - e * f; }

/* Code that is present is followed, whatever its convention. */
static MICROSOFT __attribute__((noinline)) long present(long a, long b) { return 3 * a - b; }
long follows(long a, long b) { return present(a, b); }
long follows_swapped(long a, long b) { return present(b, a); }

/* The usual convention, with registers that an earlier call leaves behind. */
extern long usual(long first, long second);
long twice(long a, long b) { return usual(usual(a, b), b); }
long twice_swapped(long a, long b) { return usual(b, usual(a, b)); }

/* Some levels push a register that holds nothing, to move the stack pointer. */
long once(long a) { return usual(a, a + 1) + 1; }
long once_other(long a) { return usual(a, a + 2) + 1; }
