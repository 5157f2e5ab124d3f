/* What is passed to functions that are not here: everything they read, and nothing else. */
#include <stdio.h>
#include <string.h>

int eight(int a, int b, int c, int d, int e, int f, int g, int h) {
    return printf("%d %d %d %d %d %d %d %d\n", a, b, c, d, e, f, g, h);
}
int eight_same(int a, int b, int c, int d, int e, int f, int g, int h) {
    return printf("%d %d %d %d %d %d %d %d\n", a, b, c, d, e, f, g, h + 1 - 1);
}
int eight_last(int a, int b, int c, int d, int e, int f, int g, int h) {
    return printf("%d %d %d %d %d %d %d %d\n", a, b, c, d, e, f, g, h + 1);
}

int mixed(double x, long n, char c) { return printf("%.*f %c %ld %5.2f\n", 3, x, c, n, 2.5); }
int mixed_same(double x, long n, char c) { return printf("%.*f %c %ld %5.2f\n", 3, x, c, 2 * n - n, 2.5); }
int mixed_number(double x, long n, char c) { return printf("%.*f %c %ld %5.2f\n", 3, x, c, n, 2.25); }

/* One call for two formats, as -O2 makes of it. */
int either(int n, int a, int b) { return n ? printf("%d\n", a) : printf("%d, %d\n", a, b); }
int either_merged(int n, int a, int b) { return printf(n ? "%d\n" : "%d, %d\n", a, b); }
int either_other(int n, int a, int b) { return printf(n ? "%d\n" : "%d, %d\n", a, b + 1); }

struct padded { char letter; int number; };
struct bits { unsigned low : 3; unsigned : 2; unsigned high : 5; };
extern int take(struct padded);
extern int take_bits(struct bits);
int padding(char c, int n) { struct padded p = {c, n}; return take(p); }
int padding_set(char c, int n) {
    struct padded p;
    memset(&p, 0xff, sizeof p);
    p.letter = c;
    p.number = n;
    return take(p);
}
int padding_number(char c, int n) {
    struct padded p;
    memset(&p, 0xff, sizeof p);
    p.letter = c;
    p.number = n ^ 1;
    return take(p);
}
int fields(int a, int b) { struct bits s = {a, b}; return take_bits(s); }
int fields_set(int a, int b) {
    struct bits s;
    memset(&s, 0xff, sizeof s);
    s.low = a;
    s.high = b;
    return take_bits(s);
}
int fields_high(int a, int b) {
    struct bits s;
    memset(&s, 0xff, sizeof s);
    s.low = a;
    s.high = b + 1;
    return take_bits(s);
}

extern int narrow(int, char, float, _Bool);
int widths(int x, char c, float f, _Bool b) { return narrow(x, c, f, b); }
int widths_same(int x, char c, float f, _Bool b) { return narrow(2 * x - x, (char)(c + 256), f, !!b); }
int widths_bool(int x, char c, float f, _Bool b) { return narrow(x, c, f, !b); }
