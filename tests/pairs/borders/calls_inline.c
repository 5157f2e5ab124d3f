/* An inline definition gives no code of its own: unoptimised code calls the function of another file. */
#include <stdlib.h>
inline int square(int x) { return x * x; }
int uses(int x) { return square(x) + 1; }
int uses_wrong(int x) { return square(x) + (x == 3 ? 2 : 1); }
double parsed(const char *s) { return strtod(s, 0) + 1; }
double parsed_too(const char *s) { return atof(s) + 1; }
double parsed_wrong(const char *s) { return strtod(s, 0) + 2; }
