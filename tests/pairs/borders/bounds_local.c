/* The index of a local array comes from outside. */
int entry(unsigned i) {
    int next[6];
    for (int j = 0; j < 6; j++) next[j] = j * (int)i;
    return next[i];
}
int entry_wrong(unsigned i) {
    int next[6];
    for (int j = 0; j < 6; j++) next[j] = j * (int)i;
    return next[i] + (i == 5);
}

/* The array is in the frame of a function that is called. */
static __attribute__((noinline)) int square(int i)
{
    int squares[4] = {0, 1, 4, 9};
    return squares[i];
}

int calls_square(int i)
{
    int other[3] = {7, 8, 9};
    return square(i) + other[2];
}

int calls_square_wrong(int i) { return calls_square(i) + (i == 3); }

/* A number from a table is kept beside the index. */
static const int sizes[4] = {3, 4, 4, 6};

int sized(unsigned k, int j)
{
    int size = sizes[k & 3];
    int squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};
    int index = j - size;
    return squares[index] + size;
}

int sized_wrong(unsigned k, int j) { return sized(k, j) + (j == 10); }

/* Compiled as if optimised, in a file that is not: the address of the end of v is that of t. */
volatile unsigned some, more;

#define OPTIMISED(name, wrong) \
    __attribute__((optimize("O2"))) int name(void) \
    { \
        if (some == 5) \
            return 0; \
        unsigned char t[8] = {1, 2, 3, 4, 5, 6, 7, 8}; \
        unsigned long v = 0; \
        t[more & 7] = some; \
        ((unsigned char *)(&v + 1))[(long)((some & 7) | -8L)] = more; \
        return (int)(v >> 3) + t[some & 7] + wrong; \
    }
OPTIMISED(optimised, 0)
OPTIMISED(optimised_wrong, 1)

/* The end of a literal that is not listed is where t begins. */
#define LITERAL(name, wrong) \
    int name(unsigned n, unsigned m) \
    { \
        if (n == 5) \
            return 0; \
        unsigned r = 0; \
        int t[4] = {n}; \
        t[m % 4] = n; \
        r += t[n % 4]; \
        r += (&((int[4]){n, [1] = m})[4])[(long)((n & 3) | -4L)]; \
        return (r & 0xffff) + wrong; \
    }
LITERAL(literal_end, 0)
LITERAL(literal_end_wrong, 1)

/* The same with a literal that is cleared in a loop: nothing is stored to its last bytes by their own address. */
#define CLEARED(name, wrong) \
    int name(unsigned n, unsigned m) \
    { \
        if (n == 5) \
            return 0; \
        unsigned r = 0; \
        int t[4] = {n}; \
        t[m % 4] = n; \
        r += t[n % 4]; \
        r += (&((int[64]){n, m})[64])[(long)((n & 63) | -64L)]; \
        return (r & 0xffff) + wrong; \
    }
CLEARED(cleared_end, 0)
CLEARED(cleared_end_wrong, 1)
