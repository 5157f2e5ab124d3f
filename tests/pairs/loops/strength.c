/* Strength reduction: a product with the loop's counter becomes a sum that grows in each iteration. */

unsigned strength(int y, int n) {
    unsigned x = 0, i = 0;
    while (y < n) {
        x = 5 * i;
        i++;
        y++;
        if ((y & 3) == 0) i++;
    }
    return x;
}
unsigned strength_rewrite(int y, int n) {
    unsigned x = 0, fives = 0;
    while (y < n) {
        x = fives;
        fives += 5;
        y++;
        if ((y & 3) == 0) fives += 5;
    }
    return x;
}
unsigned strength_broken(int y, int n) {
    unsigned x = 0, fives = 0;
    while (y < n) {
        x = fives;
        fives += 5;
        y++;
        if ((y & 3) == 0) fives += 4;
    }
    return x;
}

unsigned nested(unsigned n, unsigned m) {
    unsigned x = 0;
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < m; j++) x = 3 * x ^ (10 * i + j);
    return x;
}
unsigned nested_rewrite(unsigned n, unsigned m) {
    unsigned x = 0, row = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned cell = row;
        for (unsigned j = 0; j < m; j++) x = 3 * x ^ cell++;
        row += 10;
    }
    return x;
}
unsigned nested_broken(unsigned n, unsigned m) {
    unsigned x = 0, row = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned cell = row;
        for (unsigned j = 0; j < m; j++) x = 3 * x ^ cell++;
        row = cell + 10;
    }
    return x;
}

/* The array is walked from its end; the broken one starts one past it. */
unsigned backward(const unsigned *a, int length) {
    unsigned x = 0;
    for (int i = length - 1; i >= 0; --i) x = 3 * x + a[i];
    return x;
}
unsigned backward_rewrite(const unsigned *a, int length) {
    unsigned x = 0;
    const unsigned *p = a + length;
    while (p != a) x = 3 * x + *--p;
    return x;
}
unsigned backward_broken(const unsigned *a, int length) {
    unsigned x = 0;
    for (int i = length; i >= 0; --i) x = 3 * x + a[i];
    return x;
}
