/* Functions of the C library that are called through a pointer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

int ends(int x) {
    void (*volatile through)(int) = exit;
    through(x + ADDED);
    return RESULT;
}

int measures(const char *text) {
    size_t (*volatile through)(const char *) = strlen;
#ifdef ONCE
    return 2 * (int)through(text) + ADDED;
#else
    return (int)through(text) + (int)through(text) + ADDED;
#endif
}

double computes(double x) {
#ifdef DIRECT
    return sin(x) + sin(x) + ADDED;
#else
    double (*volatile through)(double) = sin;
    return through(x) + through(x) + ADDED;
#endif
}

int are_two(void) {
    void *(*volatile through)(size_t) = malloc;
    int *one = through(4), *other = through(4);
    return one != 0 && one == other ? ADDED : RESULT;
}
