/* Compilers put what debug information does not list, literals and temporaries, into the place of an array that is not in use. */
struct eight { int x[8]; };
#ifdef OTHER
#define FIVE 500
#else
#define FIVE 5
#endif

static __attribute__((noinline)) struct eight made(int a) {
    struct eight b;
    for (int i = 0; i < 8; i++)
        b.x[i] = a * i + (i == 6) * FIVE;
    return b;
}

int of_literal(int a, int i, int k) {
    int r = 0;
    {
        int t[2] = {a, k};
        r += t[i & 1] * 3;
    }
    {
        r += ((int[8]){a, 1, 2, 3, a, FIVE, 6, 7})[i & 7];
    }
    return r;
}

int of_result(int a, int i, int k) {
    int r = 0;
    {
        int t[2] = {a, k};
        r += t[i & 1] * 3;
    }
    r += made(a).x[i & 7];
    return r;
}

int of_zeroed(unsigned i, int a, unsigned j) {
    int r = 0;
    for (int k = 0; k < 2; k++) {
        if (k == 0) {
            int t[2] = {a, 2};
            t[j & 1] = 7;
            r += t[i & 1];
        } else {
            r += ((int[100]){[0] = a, [7] = FIVE})[i % 100];
        }
    }
    return r;
}

int of_days(int month) {
    int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, FIVE, 31};
    return days[month];
}
