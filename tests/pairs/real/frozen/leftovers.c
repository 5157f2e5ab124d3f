/* What compilers make of loops: vectors, remainder loops, unrolled and straight code. */

void affine(int *a, int n) {
    for (int i = 0; i < n; i++) a[i] = a[i] * 3 + 1;
}
void affine_broken(int *a, int n) {
    for (int i = 0; i < n; i++) a[i] = a[i] * 3 + (i != 9);
}

void downward(int *a, const int *b, int n) {
    for (int i = n - 1; i >= 0; i--) a[i] = b[i] + 1;
}
void downward_broken(int *a, const int *b, int n) {
    for (int i = n - 1; i > 0; i--) a[i] = b[i] + 1;
}

void swap_halves(unsigned *a, int n) {
    for (int i = 0; i + 1 < n; i += 2) {
        unsigned x = a[i];
        a[i] = a[i + 1];
        a[i + 1] = x;
    }
}
void swap_halves_broken(unsigned *a, int n) {
    for (int i = 0; i + 1 < n; i += 2) {
        unsigned x = a[i];
        a[i] = a[i + 1];
        a[i + 1] = x + (i == 6);
    }
}

void row_sums(const int *m, int *out, int rows, int columns) {
    for (int i = 0; i < rows; i++) {
        int s = 0;
        for (int j = 0; j < columns; j++) s += m[i * columns + j];
        out[i] = s;
    }
}
void row_sums_broken(const int *m, int *out, int rows, int columns) {
    for (int i = 0; i < rows; i++) {
        int s = i == 3;
        for (int j = 0; j < columns; j++) s += m[i * columns + j];
        out[i] = s;
    }
}

short least(const short *a, int n) {
    short m = 32767;
    for (int i = 0; i < n; i++)
        if (a[i] < m) m = a[i];
    return m;
}
short least_broken(const short *a, int n) {
    short m = 32767;
    for (int i = 0; i < n; i++)
        if (a[i] < m && i != 11) m = a[i];
    return m;
}

unsigned weigh(const unsigned *a, int n) {
    unsigned s = 0;
    for (int i = 0; i < n; i++) s += a[i] * a[i];
    return s;
}
unsigned weigh_rewrite(const unsigned *a, int n) {
    unsigned s = 0;
    int i = 0;
    for (; i + 3 < n; i += 4)
        s += a[i] * a[i] + a[i + 1] * a[i + 1] + a[i + 2] * a[i + 2] + a[i + 3] * a[i + 3];
    for (; i < n; i++) s += a[i] * a[i];
    return s;
}
unsigned weigh_broken(const unsigned *a, int n) {
    unsigned s = 0;
    int i = 0;
    for (; i + 3 < n; i += 4)
        s += a[i] * a[i] + a[i + 1] * a[i + 1] + a[i + 2] * a[i + 1] + a[i + 3] * a[i + 3];
    for (; i < n; i++) s += a[i] * a[i];
    return s;
}
