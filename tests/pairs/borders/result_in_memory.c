struct three { long member[3]; };
struct three one(int x) { struct three made = {{x, x, 1}}; return made; }
struct three two(int x) { struct three made = {{x, x, 2}}; return made; }
static __attribute__((noinline)) int first_and_third(int a, int unused, int c) { return a * c; }
int uses(int x, int y) { return first_and_third(x, 7, y + 1) + first_and_third(y, 8, x); }
