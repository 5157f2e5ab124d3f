/* A program's own function with a name of the library's. */
int log(int level, int code);
int f(int x) { return log(x, 1) + log(x, 1); }
int g(int x) { return 2 * log(x, 1); }
