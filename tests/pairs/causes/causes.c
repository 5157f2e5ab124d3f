int read_value(int port);
void write_value(int port, int value);
void log_line(int number);

struct point { int x, y; short z; unsigned char tag; };

int constant(int a, int b)
{
    int half = a / 2;
    return half + b * 5;
}

int constant_rewrite(int a, int b)
{
    int half = a / 2;
    return half + b * 7;
}

int comparison(int a, int low)
{
    if (a < low)
        return low;
    return a;
}

int comparison_rewrite(int a, int low)
{
    if ((unsigned)a < (unsigned)low)
        return low;
    return a;
}

int last_write(int a, int b, int c)
{
    int sum = a + b;
    int scaled = sum * 3;
    int mixed = scaled ^ c;
    return mixed - (mixed >> 4);
}

int last_write_rewrite(int a, int b, int c)
{
    int sum = a - b;
    int scaled = sum * 3;
    int mixed = scaled ^ c;
    return mixed - (mixed >> 4);
}

int loop(unsigned long x)
{
    int n = 0;
    while (x) {
        n += x & 1;
        x >>= 1;
    }
    return n;
}

int loop_rewrite(unsigned long x)
{
    int n = 0;
    while (x) {
        n += x & 1;
        x >>= 2;
    }
    return n;
}

void store(struct point *p, int dx)
{
    p->x += dx;
    p->y = 7;
    p->tag |= 1;
}

void store_missing(struct point *p, int dx)
{
    p->x += dx;
    p->tag |= 1;
}

void store_between(int *a, int *b)
{
    *a = 5;
    *b = *a + 1;
    *a = 9;
}

void store_between_missing(int *a, int *b)
{
    *b = *a + 1;
    *a = 9;
}

double weight(double a, double b)
{
    return a * 0.75 + b;
}

double weight_rewrite(double a, double b)
{
    return a * 0.5 + b;
}

int two(int a, int b, int which)
{
    if (which)
        return a + 3;
    return b * 5;
}

int two_rewrite(int a, int b, int which)
{
    if (which)
        return a + 4;
    return b * 6;
}

int two_twin(int a, int b, int which)
{
    if (which)
        return a + 4;
    return b * 5;
}

int call(int port)
{
    int value = read_value(port);
    write_value(port + 1, value);
    return value;
}

int call_missing(int port)
{
    int value = read_value(port);
    return value;
}

void order(int a, int b)
{
    write_value(1, a);
    log_line(b);
}

void order_rewrite(int a, int b)
{
    log_line(b);
    write_value(1, a);
}

int swapped(int a, int b)
{
    write_value(a, b);
    return 0;
}

int swapped_rewrite(int a, int b)
{
    write_value(b, a);
    return 0;
}

long width(int a, int b)
{
    return (long)a - b;
}

long width_rewrite(int a, int b)
{
    return a - b;
}

int offset(const struct point *p)
{
    return p->x * 3;
}

int offset_rewrite(const struct point *p)
{
    return p->y * 3;
}

int opposite(const char *s, char wanted)
{
    if (s[0] == wanted)
        return 1;
    return s[1] + 4;
}

int opposite_rewrite(const char *s, char wanted)
{
    if (s[0] >= wanted)
        return 1;
    return s[1] + 4;
}

int average(int a, int b)
{
    return (int)(((long)a + b) >> 1);
}

int average_narrow(int a, int b)
{
    return (int)((unsigned)a + (unsigned)b) >> 1;
}

int position(const int *a, int n)
{
    int at = 0;
    for (int i = 0; i < n; i++) {
        if (a[i] == 7)
            return at;
        at += 1;
    }
    return -1;
}

int position_rewrite(const int *a, int n)
{
    int at = 0;
    for (int i = 0; i < n; i++) {
        if (a[i] == 7)
            return at;
        at += 2;
    }
    return -1;
}

struct both { long sum, most; };

struct both totals(const int *a, int n)
{
    struct both r = {0, 0};
    for (int i = 0; i < n; i++) {
        r.sum += a[i];
        r.most = r.most * 3 + r.sum;
    }
    r.sum += 5;
    r.most ^= 9;
    return r;
}

struct both totals_rewrite(const int *a, int n)
{
    struct both r = {0, 0};
    for (int i = 0; i < n; i++) {
        r.sum -= a[i];
        r.most = r.most * 3 + r.sum;
    }
    r.sum += 6;
    r.most ^= 10;
    return r;
}
