/* The inner loops of small benchmark programs. */

/* Chomp: what lies right of the bite is gone, from the bitten row on. */
int chomp(int *rows, int from, int n, int column) {
    int bitten = 0;
    for (int i = from; i < n; i++)
        if (rows[i] > column) {
            rows[i] = column;
            bitten++;
        }
    return bitten;
}
int chomp_broken(int *rows, int from, int n, int column) {
    int bitten = 0;
    for (int i = from; i < n; i++)
        if (rows[i] >= column) {
            rows[i] = column;
            bitten++;
        }
    return bitten;
}

/* Fannkuch: the first k + 1 elements the other way round. */
void fannkuch(int *a, int k) {
    for (int i = 0, j = k; i < j; i++, j--) {
        int kept = a[i];
        a[i] = a[j];
        a[j] = kept;
    }
}
void fannkuch_broken(int *a, int k) {
    for (int i = 0, j = k - 1; i < j; i++, j--) {
        int kept = a[i];
        a[i] = a[j];
        a[j] = kept;
    }
}

/* A hash that takes in one character after the other, up to the end of the string. */
unsigned knucleotide(const char *key) {
    unsigned hash = 0;
    for (; *key; key++) hash = 5 * hash + *key;
    return hash;
}
unsigned knucleotide_broken(const char *key) {
    unsigned hash = 0;
    for (; *key; key++) hash = 5 * hash + (unsigned char)*key;
    return hash;
}

/* The sieve of Eratosthenes over bytes: flags that are set fall for every multiple of one that stands. */
unsigned sieve(unsigned char *flags, unsigned n) {
    unsigned count = 0;
    for (unsigned i = 2; i < n; i++)
        if (flags[i]) {
            for (unsigned k = i + i; k < n; k += i) flags[k] = 0;
            count++;
        }
    return count;
}
unsigned sieve_broken(unsigned char *flags, unsigned n) {
    unsigned count = 0;
    for (unsigned i = 2; i < n; i++)
        if (flags[i]) {
            for (unsigned k = i; k < n; k += i) flags[k] = 0;
            count++;
        }
    return count;
}

/* The same over bits. */
unsigned sieve_bits(unsigned *flags, unsigned n) {
    unsigned count = 0;
    for (unsigned i = 2; i < n; i++)
        if (flags[i >> 5] & 1u << (i & 31)) {
            for (unsigned k = i + i; k < n; k += i) flags[k >> 5] &= ~(1u << (k & 31));
            count++;
        }
    return count;
}
unsigned sieve_bits_broken(unsigned *flags, unsigned n) {
    unsigned count = 0;
    for (unsigned i = 2; i < n; i++)
        if (flags[i >> 5] & 1u << (i & 31)) {
            for (unsigned k = i; k < n; k += i) flags[k >> 5] &= ~(1u << (k & 31));
            count++;
        }
    return count;
}

/* Quicksort: small elements to the left, large ones to the right, and where the two meet. */
int partition(int *a, int low, int high) {
    int pivot = a[high], i = low, j = high;
    while (i < j) {
        while (i < high && a[i] <= pivot) i++;
        while (j > low && a[j] >= pivot) j--;
        if (i < j) {
            int kept = a[i];
            a[i] = a[j];
            a[j] = kept;
        }
    }
    return i;
}
int partition_broken(int *a, int low, int high) {
    int pivot = a[high], i = low, j = high;
    while (i < j) {
        while (i < high && a[i] < pivot) i++;
        while (j > low && a[j] >= pivot) j--;
        if (i < j) {
            int kept = a[i];
            a[i] = a[j];
            a[j] = kept;
        }
    }
    return i;
}

/* Rounds as in SHA-1. */
void sha1(unsigned *state, const unsigned *words, int n) {
    unsigned a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (int i = 0; i < n; i++) {
        unsigned t = (a << 5 | a >> 27) + ((b & c) | (~b & d)) + e + words[i] + 0x5a827999;
        e = d;
        d = c;
        c = b << 30 | b >> 2;
        b = a;
        a = t;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}
void sha1_broken(unsigned *state, const unsigned *words, int n) {
    unsigned a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (int i = 0; i < n; i++) {
        unsigned t = (a << 5 | a >> 27) + ((b & c) | (~b & d)) + e + words[i] + 0x5a827999;
        e = d;
        d = c;
        c = b << 31 | b >> 1;
        b = a;
        a = t;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

/* One row of a long multiplication: r += a * w, and the carry out. */
unsigned long multiply_row(unsigned long *r, const unsigned long *a, int n, unsigned long w) {
    unsigned long carry = 0;
    for (int i = 0; i < n; i++) {
        unsigned __int128 t = (unsigned __int128)a[i] * w + r[i] + carry;
        r[i] = (unsigned long)t;
        carry = (unsigned long)(t >> 64);
    }
    return carry;
}
unsigned long multiply_row_broken(unsigned long *r, const unsigned long *a, int n, unsigned long w) {
    unsigned long carry = 0;
    for (int i = 0; i < n; i++) {
        unsigned __int128 t = (unsigned __int128)a[i] * w + (r[i] + carry);
        r[i] = (unsigned long)t;
        carry = (unsigned long)(t >> 64);
    }
    return carry;
}
