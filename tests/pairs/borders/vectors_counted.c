/* Calls say in al how many vector registers hold arguments: of functions that take any number of arguments, and of those
   without a prototype. Not all calls of one function pass the same. */
#ifndef K
#define K 1.0
#endif
int log_values(int, ...);

void two_calls(int x) { log_values(x); log_values(x, K); }

void two_calls_other(int x) { log_values(x); log_values(x + 1, K); }

void one_more(int x, double d) { log_values(x, d); log_values(x, d, K); }

#ifdef FEWER
void passed_on(int x, double d, double e) { log_values(x, d); }
void through(int (*p)(), int x, double d) { p(x); }
#else
void passed_on(int x, double d, double e) { log_values(x, d, e); }
void through(int (*p)(), int x, double d) { p(x, d); }
#endif

void through_other(int (*p)(), int x, double d) { p(x + 1, d); }
