/* Loops that compilers turn into vector code, with a loop for what is left over. */

void map(unsigned *b, const unsigned *a, int n, unsigned c) {
    for (int i = 0; i < n; i++) b[i] = a[i] + c;
}
void map_broken(unsigned *b, const unsigned *a, int n, unsigned c) {
    for (int i = 1; i < n; i++) b[i] = a[i] + c;
}

void map_in_place(unsigned *a, int n, unsigned c) {
    for (int i = 0; i < n; i++) a[i] = (a[i] ^ c) + 1;
}
void map_in_place_broken(unsigned *a, int n, unsigned c) {
    for (int i = 0; i < n; i++) a[i] = (a[i] ^ c) + (i == 5 ? 2 : 1);
}

unsigned sum(const unsigned *a, int n) {
    unsigned s = 0;
    for (int i = 0; i < n; i++) s += a[i];
    return s;
}
unsigned sum_broken(const unsigned *a, int n) {
    unsigned s = 0;
    for (int i = 0; i + 1 < n; i++) s += a[i];
    return s;
}

int maximum(const int *a, int n) {
    int best = -2147483647 - 1;
    for (int i = 0; i < n; i++)
        if (a[i] > best) best = a[i];
    return best;
}
int maximum_broken(const int *a, int n) {
    int best = -2147483647;
    for (int i = 0; i < n; i++)
        if (a[i] > best) best = a[i];
    return best;
}

unsigned parity(const unsigned *a, int n) {
    unsigned x = 0;
    for (int i = 0; i < n; i++) x ^= a[i];
    return x;
}
unsigned parity_broken(const unsigned *a, int n) {
    unsigned x = 0;
    for (int i = 0; i < n; i++) x |= a[i];
    return x;
}

unsigned count(const unsigned *a, int n, unsigned wanted) {
    unsigned found = 0;
    for (int i = 0; i < n; i++) found += a[i] == wanted;
    return found;
}
unsigned count_broken(const unsigned *a, int n, unsigned wanted) {
    unsigned found = 0;
    for (int i = 0; i < n; i++) found += a[i] <= wanted;
    return found;
}

void saxpy(unsigned *y, const unsigned *x, int n, unsigned a) {
    for (int i = 0; i < n; i++) y[i] += a * x[i];
}
void saxpy_broken(unsigned *y, const unsigned *x, int n, unsigned a) {
    for (int i = 0; i < n; i++) y[i] = a * x[i];
}

int same(const unsigned *a, const unsigned *b, int n) {
    unsigned difference = 0;
    for (int i = 0; i < n; i++) difference |= a[i] ^ b[i];
    return difference == 0;
}
int same_broken(const unsigned *a, const unsigned *b, int n) {
    unsigned difference = 0;
    for (int i = 0; i + 1 < n; i++) difference |= a[i] ^ b[i];
    return difference == 0;
}

/* Each element needs the one before it. */
void prefix(unsigned *a, int n) {
    for (int i = 1; i < n; i++) a[i] += a[i - 1];
}
void prefix_broken(unsigned *a, int n) {
    unsigned before = n > 0 ? a[0] : 0;
    for (int i = 1; i < n; i++) {
        unsigned here = a[i];
        a[i] = here + before;
        before = here;
    }
}

/* Two and three arrays that may overlap: a check for that comes first. */
void swapped(int *a, int *b, int n) {
    for (int i = 0; i < n; i++) {
        int kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}
void swapped_broken(int *a, int *b, int n) {
    for (int i = 0; i < n; i++) {
        int kept = b[i];
        b[i] = a[i];
        a[i] = kept + (i == 21);
    }
}

void added(int *sum, const int *a, const int *b, int n) {
    for (int i = 0; i < n; i++) sum[i] = a[i] + b[i];
}
void added_broken(int *restrict sum, const int *restrict a, const int *restrict b, int n) {
    for (int i = 0; i < n; i++) sum[i] = a[i] + b[i];
}

/* A flag in each lane. */
int all_equal(const int *a, const int *b, int n) {
    int equal = 1;
    for (int i = 0; i < n; i++) equal &= a[i] == b[i];
    return equal;
}
int all_equal_broken(const int *a, const int *b, int n) {
    int equal = 1;
    for (int i = 0; i < n; i++) equal &= (a[i] & 0xffffff) == (b[i] & 0xffffff);
    return equal;
}

struct limits {
    int unused, least, most;
};

int sum_within(const struct limits *limits, const int *a, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        int x = a[i];
        if (x < limits->least)
            x = limits->least;
        if (x > limits->most)
            x = limits->most;
        s += x;
    }
    return s;
}

int sum_within_broken(const struct limits *limits, const int *a, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        int x = a[i];
        if (x > limits->most)
            x = limits->most;
        if (x < limits->least)
            x = limits->least;
        s += x;
    }
    return s;
}

void squared(int *restrict to, const int *restrict x, const int *restrict y, int n) {
    for (int i = 0; i < n; i++) {
        unsigned s = x[i] + (unsigned)y[i];
        to[i] = s * s;
    }
}
void squared_broken(int *restrict to, const int *restrict x, const int *restrict y, int n) {
    for (int i = 0; i < n; i++) {
        unsigned s = x[i] + (unsigned)y[i];
        to[i] = n % 8 == 7 && i == n - 1 ? s * s + 1 : s * s;
    }
}
void squared_overlapping(int *to, const int *x, const int *y, int n) {
    for (int i = 0; i < n; i++) {
        unsigned s = x[i] + (unsigned)y[i];
        to[i] = s * s;
    }
}
