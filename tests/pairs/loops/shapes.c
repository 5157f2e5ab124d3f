/* The same loop in other shapes. */

/* Where the counter may only be compared for equality because it starts below the bound. */
int below(int n) {
    int i = 0;
    if (0 < n)
        for (i = 0; i < n; i++) {}
    return i;
}
int below_rewrite(int n) {
    int i = 0;
    if (0 < n)
        for (i = 0; i != n; i++) {}
    return i;
}
int below_broken(int n) {
    int i = 0;
    if (-1 <= n)
        for (i = 0; i <= n; i++) {}
    return i;
}

unsigned sum_below(const unsigned *a, int n) {
    unsigned s = 0;
    if (0 < n)
        for (int i = 0; i < n; i++) s += a[i];
    return s;
}
unsigned sum_below_rewrite(const unsigned *a, int n) {
    unsigned s = 0;
    if (0 < n)
        for (int i = 0; i != n; i++) s += a[i];
    return s;
}
unsigned sum_below_broken(const unsigned *a, int n) {
    unsigned s = 0;
    if (1 < n)
        for (int i = 0; i != n; i++) s += a[i];
    return s;
}

unsigned count_up(unsigned x, unsigned n) {
    for (unsigned i = 0; i < n; i++) x = x * 5 + 7;
    return x;
}
unsigned count_up_rewrite(unsigned x, unsigned n) {
    for (; n; n--) x = x * 5 + 7;
    return x;
}
unsigned count_up_broken(unsigned x, unsigned n) {
    for (; n > 1; n--) x = x * 5 + 7;
    return x;
}

unsigned index_sum(const unsigned *a, int n) {
    unsigned s = 0;
    for (int i = 0; i < n; i++) s = s * 3 + a[i];
    return s;
}
unsigned index_sum_rewrite(const unsigned *a, int n) {
    unsigned s = 0;
    if (n <= 0) return 0;
    for (const unsigned *end = a + n; a != end; a++) s = s * 3 + *a;
    return s;
}
unsigned index_sum_broken(const unsigned *a, int n) {
    unsigned s = 0;
    if (n <= 0) return 0;
    for (const unsigned *end = a + n; ++a != end;) s = s * 3 + *a;
    return s;
}

unsigned bit_length(unsigned x) {
    unsigned n = 0;
    while (x) {
        x >>= 1;
        n++;
    }
    return n;
}
unsigned bit_length_rewrite(unsigned x) {
    unsigned n = 0;
    if (x) do
            n++;
        while (x >>= 1);
    return n;
}
unsigned bit_length_broken(unsigned x) {
    unsigned n = 0;
    do n++;
    while (x >>= 1);
    return n;
}

/* Loop rotation: the test moves from the top to the bottom. */
int rotated(const int *a, int n, int wanted) {
    int i = 0;
    for (;;) {
        if (i >= n) break;
        if (a[i] == wanted) break;
        i++;
    }
    return i;
}
int rotated_rewrite(const int *a, int n, int wanted) {
    int i = 0;
    if (n > 0 && a[0] != wanted) do
            i++;
        while (i < n && a[i] != wanted);
    return i;
}
int rotated_broken(const int *a, int n, int wanted) {
    int i = 0;
    if (n > 0 && a[0] != wanted) do
            i++;
        while (i < n - 1 && a[i] != wanted);
    return i;
}

/* Loop-invariant code motion: x * y + 3 leaves the loop. */
void invariant(unsigned *a, int n, unsigned x, unsigned y) {
    for (int i = 0; i < n; i++) a[i] ^= x * y + 3;
}
void invariant_rewrite(unsigned *a, int n, unsigned x, unsigned y) {
    unsigned key = x * y + 3;
    for (int i = 0; i < n; i++) a[i] ^= key;
}
void invariant_broken(unsigned *a, int n, unsigned x, unsigned y) {
    unsigned key = x * y + 3;
    for (int i = 0; i < n; i++) {
        a[i] ^= key;
        key++;
    }
}

/* A load that may only leave the loop if no store of the loop reaches it. */
void invariant_load(unsigned *a, int n, const unsigned *key) {
    for (int i = 0; i < n; i++) a[i] ^= *key;
}
void invariant_load_rewrite(unsigned *a, int n, const unsigned *key) {
    if (n <= 0) return;
    unsigned kept = *key;
    for (int i = 0; i < n; i++) a[i] ^= kept;
}
void invariant_load_broken(unsigned *a, int n, const unsigned *key) {
    if (n <= 0) return;
    unsigned kept = key[1];
    for (int i = 0; i < n; i++) a[i] ^= kept;
}

unsigned peeled(const unsigned *a, int n) {
    unsigned best = 0;
    for (int i = 0; i < n; i++)
        if (i == 0 || a[i] > best) best = a[i];
    return best;
}
unsigned peeled_rewrite(const unsigned *a, int n) {
    if (n <= 0) return 0;
    unsigned best = a[0];
    for (int i = 1; i < n; i++)
        if (a[i] > best) best = a[i];
    return best;
}
unsigned peeled_broken(const unsigned *a, int n) {
    if (n <= 0) return 0;
    unsigned best = a[0];
    for (int i = 1; i < n; i++)
        if ((int)a[i] > (int)best) best = a[i];
    return best;
}

/* Unrolled by 2, 3 and 4, with what is left over. */
unsigned hash(const unsigned *a, unsigned n) {
    unsigned h = 1;
    for (unsigned i = 0; i < n; i++) h = h * 31 ^ a[i];
    return h;
}
unsigned hash_by_2(const unsigned *a, unsigned n) {
    unsigned h = 1, i = 0;
    for (unsigned whole = n & ~1u; i != whole; i += 2) {
        h = h * 31 ^ a[i];
        h = h * 31 ^ a[i + 1];
    }
    if (n & 1) h = h * 31 ^ a[i];
    return h;
}
unsigned hash_by_2_broken(const unsigned *a, unsigned n) {
    unsigned h = 1, i = 0;
    for (unsigned whole = n & ~1u; i != whole; i += 2) {
        h = h * 31 ^ a[i + 1];
        h = h * 31 ^ a[i];
    }
    if (n & 1) h = h * 31 ^ a[i];
    return h;
}
unsigned hash_by_3(const unsigned *a, unsigned n) {
    unsigned h = 1, i = 0;
    for (; n - i >= 3; i += 3) {
        h = h * 31 ^ a[i];
        h = h * 31 ^ a[i + 1];
        h = h * 31 ^ a[i + 2];
    }
    for (; i < n; i++) h = h * 31 ^ a[i];
    return h;
}
unsigned hash_by_3_broken(const unsigned *a, unsigned n) {
    unsigned h = 1, i = 0;
    for (; n - i >= 3; i += 3) {
        h = h * 31 ^ a[i];
        h = h * 31 ^ a[i + 1];
        h = h * 31 ^ a[i + 2];
    }
    if (i < n) h = h * 31 ^ a[i];
    return h;
}
unsigned hash_by_4(const unsigned *a, unsigned n) {
    unsigned h = 1, i = 0;
    for (unsigned turns = n / 4; turns; turns--, i += 4) {
        h = h * 31 ^ a[i];
        h = h * 31 ^ a[i + 1];
        h = h * 31 ^ a[i + 2];
        h = h * 31 ^ a[i + 3];
    }
    for (unsigned left = n % 4; left; left--, i++) h = h * 31 ^ a[i];
    return h;
}
unsigned hash_by_4_broken(const unsigned *a, unsigned n) {
    unsigned h = 1, i = 0;
    for (unsigned turns = n / 4; turns; turns--, i += 4) {
        h = h * 31 ^ a[i];
        h = h * 31 ^ a[i + 1];
        h = h * 31 ^ a[i + 2];
        h = h * 31 ^ a[i + 2];
    }
    for (unsigned left = n % 4; left; left--, i++) h = h * 31 ^ a[i];
    return h;
}

/* Two loops one after the other: the second sees what the first left behind. */
unsigned two_loops(unsigned *a, int n) {
    unsigned s = 0;
    for (int i = 0; i < n; i++) a[i] += (unsigned)i;
    for (int i = 0; i < n; i++) s = s * 3 + a[i];
    return s;
}
unsigned two_loops_rewrite(unsigned *a, int n) {
    unsigned s = 0, i = 0;
    unsigned *p = a;
    for (int left = n; left > 0; left--) *p++ += i++;
    p = a;
    for (int left = n; left > 0; left--) s = s * 3 + *p++;
    return s;
}
unsigned two_loops_broken(unsigned *a, int n) {
    unsigned s = 0, i = 0;
    unsigned *p = a;
    for (int left = n; left > 0; left--) *p++ += i++;
    for (int left = n; left > 0; left--) s = s * 3 + *--p;
    return s;
}

/* No closed form, and nobody knows whether it always ends. */
unsigned collatz(unsigned n) {
    unsigned steps = 0;
    while (n > 1) {
        if (n & 1)
            n = 3 * n + 1;
        else
            n /= 2;
        steps++;
    }
    return steps;
}
unsigned collatz_rewrite(unsigned n) {
    unsigned steps = 0;
    for (; n > 1; steps++) {
        unsigned odd = -(n & 1);
        n = (n >> 1 & ~odd) | ((n + n + n + 1) & odd);
    }
    return steps;
}
unsigned collatz_broken(unsigned n) {
    unsigned steps = 0;
    for (; n > 1; steps++) {
        unsigned odd = -(n & 1);
        n = (n >> 1 & ~odd) | ((n + n + n - 1) & odd);
    }
    return steps;
}

/* Euclid's algorithm, and two of its iterations with the two numbers in each other's place. */
unsigned gcd(unsigned a, unsigned b) {
    while (b) {
        unsigned rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
unsigned gcd_rewrite(unsigned a, unsigned b) {
    for (;;) {
        if (!b) return a;
        a %= b;
        if (!a) return b;
        b %= a;
    }
}
unsigned gcd_broken(unsigned a, unsigned b) {
    for (;;) {
        if (!b) return a;
        a %= b;
        if (!a) return b;
        b -= a;
        if (b < a) return a;
    }
}

/* Squares as sums of odd numbers: the relation between the two is not linear. */
unsigned squares(unsigned n) {
    unsigned x = 0;
    for (unsigned i = 0; i < n; i++) x = x * 7 ^ i * i;
    return x;
}
unsigned squares_rewrite(unsigned n) {
    unsigned x = 0, square = 0, odd = 1;
    for (unsigned i = 0; i < n; i++) {
        x = x * 7 ^ square;
        square += odd;
        odd += 2;
    }
    return x;
}
unsigned squares_broken(unsigned n) {
    unsigned x = 0, square = 0, odd = 1;
    for (unsigned i = 0; i < n; i++) {
        x = x * 7 ^ square;
        square += odd;
        odd += 3;
    }
    return x;
}

/* What a loop reads each time, against the same read once before it. */
struct buffer {
    int count;
    unsigned *words;
};
unsigned kept_length(const struct buffer *v) {
    unsigned s = 0;
    for (int i = 0; i < v->count; i++) s += v->words[i];
    return s;
}
unsigned kept_length_rewrite(const struct buffer *v) {
    unsigned s = 0;
    const unsigned *p = v->words, *end = p + v->count;
    if (v->count <= 0) return 0;
    do s += *p++;
    while (p != end);
    return s;
}
unsigned kept_length_broken(const struct buffer *v) {
    unsigned s = 0;
    const unsigned *p = v->words, *end = p + (v->count & 31);
    if (v->count <= 0) return 0;
    for (; p != end; p++) s += *p;
    return s;
}
void cleared(struct buffer *v) {
    for (int i = 0; i < v->count; i++) v->words[i] = 0;
}
void cleared_kept_length(struct buffer *v) {
    int n = v->count;
    for (int i = 0; i < n; i++) v->words[i] = 0;
}
unsigned factor;
unsigned by_factor(const unsigned *a, int n) {
    unsigned s = 0;
    for (int i = 0; i < n; i++) s += a[i] * factor;
    return s;
}
unsigned by_factor_rewrite(const unsigned *a, int n) {
    unsigned s = 0, kept = factor;
    for (int i = 0; i < n; i++) s += a[i] * kept;
    return s;
}
unsigned by_factor_broken(const unsigned *a, int n) {
    unsigned s = 0, kept = factor & 0xffff;
    for (int i = 0; i < n; i++) s += a[i] * kept;
    return s;
}

/* A loop by two that does an odd iteration first. */
void raised(int *a, int n) {
    for (int i = 0; i < n; i++) a[i] += 3;
}
void raised_odd_first(int *a, int n) {
    int i = 0;
    if (n <= 0) return;
    if (n & 1) a[i++] += 3;
    for (; i != n; i += 2) {
        a[i] += 3;
        a[i + 1] += 3;
    }
}
void raised_odd_first_broken(int *a, int n) {
    int i = 0;
    if (n <= 0) return;
    if (n & 1) a[i++] += 3;
    for (; i != n; i += 2) {
        a[i] += 3;
        a[i + 1] += n & 1 && i == 13 ? 2 : 3;
    }
}

/* An end that is compared by order: it lies after the beginning, since both are in memory that programs may have. */
unsigned mixed(const unsigned char *p, int n) {
    unsigned s = 0;
    for (int i = 0; i < n; i++) s = s * 31 + p[i];
    return s;
}
unsigned mixed_to_end(const unsigned char *p, int n) {
    unsigned s = 0;
    const unsigned char *end = p + n;
    if (n > 0)
        for (; p < end; p++) s = s * 31 + *p;
    return s;
}
unsigned mixed_to_end_broken(const unsigned char *p, int n) {
    unsigned s = 0;
    const unsigned char *end = p + n;
    if (n > 0)
        for (; p < end; p++) s = s * 31 + *p;
    return n == 15 ? s + 1 : s;
}
