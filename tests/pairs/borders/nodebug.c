/* Compiled without debug information: what is the result shows only in the code. */
double plus_one(double x) { return x + 1.0; }
double one_plus(double x) { return 1.0 + x; }
double plus_two(double x) { return x + 2.0; }

struct pair { double low, high; };
struct pair both(double x, double y) { struct pair r = {x + 1, y * 2}; return r; }
struct pair both_again(double x, double y) { struct pair r = {1 + x, y + y}; return r; }
struct pair both_wrong(double x, double y) { struct pair r = {x + 1, y + 2}; return r; }

unsigned __int128 wide(unsigned long x) { return (unsigned __int128)x << 64 | x; }
unsigned __int128 wide_again(unsigned long x) { return (unsigned __int128)x * (((unsigned __int128)1 << 64) | 1); }
unsigned __int128 wide_wrong(unsigned long x) { return (unsigned __int128)(x + 1) << 64 | x; }

/* No result: what a function leaves in rax is no difference, but what it stores is. */
void next(int *p, int x) { p[0] = x * 3 + 1; p[1] = p[2] - x; }
void next_wrong(int *p, int x) { p[0] = x * 3 + 1; p[1] = p[2] + x; }

/* Above a char there is anything. */
unsigned char sum(unsigned char a, unsigned char b) { return a + b; }
unsigned char sum_wrong(unsigned char a, unsigned char b) { return a + b + 1; }

double keep(double *p, double x) { return *p = x + 1; }
double keep_wrong(double *p, double x) { *p = x + 1; return x; }
