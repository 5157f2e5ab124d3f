/* Functions of the program's own that have the names of library functions: their declarations decide. */
extern int log(int, int);
extern int err(int, int);
extern int memset(int, int, int);
extern long read(int);
_Noreturn extern void die(int);
extern int *where;
int logged(int x, int y) { return log(x, y) + 1; }
int logged_same(int x, int y) { return 1 + log(x, 2 * y - y); }
int logged_other(int x, int y) { return log(x, y + 1) + 1; }
int erring(int x) { return err(x, 1) + 1; }
int erring_same(int x) { return 1 + err(2 * x - x, 1); }
int erring_other(int x) { return err(x, 1) + 2; }
int setting(int x, int y) { return memset(x, y, 3) + (int)read(x); }
int setting_same(int x, int y) { int r = memset(x, y, 3); return (int)read(x) + r; }
int setting_other(int x, int y) { return memset(x, y, 4) + (int)read(x); }
int dying(int x) { if (x < 0) die(x); return x; }
int dying_same(int x) { if (x >= 0) return x; die(x); }
int dying_other(int x) { if (x < 0) die(x + 1); return x; }
int leaving(int x) { if (x < 0) { *where = 1; die(x); } return x; }
int leaving_same(int x) { if (x >= 0) return x; *where = 1; die(x); }
int leaving_other(int x) { if (x >= 0) return x; *where = 2; die(x); }
static __attribute__((noinline)) void stop(int x) { die(x); }
int stopping(int x) { if (x < 0) stop(x); return x; }
int stopping_same(int x) { if (x >= 0) return x; stop(x); }
int stopping_other(int x) { if (x >= 0) return x; stop(x ^ 1); }
