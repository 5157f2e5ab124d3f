/* Bools in a structure that an outside function returns are 0 or 1. */
struct flags { unsigned long a : 1; _Bool b; _Bool c; };
struct flags g(unsigned long);
struct flags copied(unsigned long x) { struct flags r = g(x), s; s.a = r.a; s.b = r.b; s.c = r.c; return s; }
struct flags passed_on(unsigned long x) { return g(x); }
struct flags turned(unsigned long x) { struct flags r = g(x); r.c = !r.c; return r; }
