/* Functions of the library that only compute: how often and in which order they are called is not seen. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double twice_a(double x) { return log(x) + log(x); }
double twice_b(double x) { double t = log(x); return t + t; }
double twice_c(double x) { double t = log(x); return t + t + t; }

double root(double x) { return sqrt(x) + fabs(x); }
double root_c(double x) { return sqrt(x) - fabs(x); }

double both(double x) { return sin(x) * cos(x); }
double both_b(double x) { double c = cos(x); return sin(x) * c; }
double both_c(double x) { double c = cos(x); return c * c; }

int same_a(const char *s, const char *t) { return strcmp(s, t) == 0 && strcmp(s, t) <= 0; }
int same_b(const char *s, const char *t) { return strcmp(s, t) == 0; }
int same_c(const char *s, const char *t) { return strcmp(s, t) >= 0; }

int stored_a(const char *s, int *p) { int r = abs(*p) + isalpha(*s); *p = 0; return r; }
int stored_b(const char *s, int *p) { int v = *p; *p = 0; return abs(v) + isalpha(*s); }

int noted_a(double x) { errno = 0; log(x); return errno; }
int noted_b(double x) { errno = 0; log(x); return 0; }

int square(int x);
int user_a(int x) { return square(x) + square(x); }
int user_b(int x) { return 2 * square(x); }
int user_c(int x) { return 2 * square(x) + 1; }

int parsed_a(const char *s) { return atoi(s) * 2; }
int parsed_b(const char *s) { return atoi(s) + atoi(s); }
int parsed_c(const char *s) { return atoi(s) + atoi(s) + 1; }
