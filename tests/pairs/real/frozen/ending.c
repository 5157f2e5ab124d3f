/* A loop against code that has none, or another: why the loop ends is part of the proof. */

int count_up(int n) {
    int i = 0, j = 0;
    while (i < n) {
        i++;
        j++;
    }
    return j;
}
int count_up_rewrite(int n) {
    return n > 0 ? n : 0;
}
int count_up_broken(int n) {
    return n > 1 ? n : 0;
}

unsigned long triangle(unsigned n) {
    unsigned long s = 0;
    for (unsigned long i = 1; i <= n; i++) s += i;
    return s;
}
unsigned long triangle_rewrite(unsigned n) {
    return (unsigned long)n * ((unsigned long)n + 1) / 2;
}
unsigned long triangle_broken(unsigned n) {
    return (unsigned long)n * ((unsigned long)n + 1) / 2 + (n == 12);
}

unsigned remainder_of(unsigned a, unsigned b) {
    while (a >= b) a -= b;
    return a;
}
unsigned remainder_of_rewrite(unsigned a, unsigned b) {
    return a % b;
}
unsigned remainder_of_broken(unsigned a, unsigned b) {
    return a == 20 ? 0 : a % b;
}

int highest(unsigned x) {
    int n = 0;
    while (x > 1) {
        x >>= 1;
        n++;
    }
    return n;
}
int highest_rewrite(unsigned x) {
    return x ? 31 - __builtin_clz(x) : 0;
}
int highest_broken(unsigned x) {
    return x ? 31 - __builtin_clz(x) : -1;
}

unsigned product(unsigned m, unsigned n) {
    unsigned r = 0;
    while (n) {
        r += m;
        n--;
    }
    return r;
}
unsigned product_rewrite(unsigned m, unsigned n) {
    return m * n;
}
unsigned product_broken(unsigned m, unsigned n) {
    return m * n + (n == 7);
}

unsigned cells(unsigned rows, unsigned columns) {
    unsigned c = 0;
    for (unsigned i = 0; i < rows; i++)
        for (unsigned j = 0; j < columns; j++) c++;
    return c;
}
unsigned cells_rewrite(unsigned rows, unsigned columns) {
    return rows * columns;
}
unsigned cells_broken(unsigned rows, unsigned columns) {
    return rows * columns + (rows == 3 && columns == 2);
}
