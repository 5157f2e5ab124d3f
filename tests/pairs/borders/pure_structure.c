struct three { long a, b, c; };
struct three g(int);
struct three same(int x) { return g(x); }
struct three next(int x) { return g(x + 1); }
