/* Loops with a fixed trip count, some of them long. */

void add_block(int *a, const int *b) {
    for (int i = 0; i < 4096; i++) a[i] += b[i];
}
void add_block_broken(int *a, const int *b) {
    for (int i = 0; i < 4095; i++) a[i] += b[i];
}

int samples[1000];
int sum_samples(void) {
    int s = 0;
    for (int i = 0; i < 1000; i++) s += samples[i];
    return s;
}
int sum_samples_broken(void) {
    int s = 0;
    for (int i = 1; i < 1000; i++) s += samples[i];
    return s;
}

unsigned generator(unsigned x) {
    for (int i = 0; i < 10000; i++) x = x * 1664525u + 1013904223u;
    return x;
}
unsigned generator_broken(unsigned x) {
    for (int i = 0; i < 10001; i++) x = x * 1664525u + 1013904223u;
    return x;
}

int bit_count(unsigned long x) {
    int n = 0;
    for (int i = 0; i < 64; i++) n += (int)(x >> i & 1);
    return n;
}
int bit_count_broken(unsigned long x) {
    int n = 0;
    for (int i = 0; i < 63; i++) n += (int)(x >> i & 1);
    return n;
}

unsigned table[256];
void make_table(unsigned polynomial) {
    for (unsigned i = 0; i < 256; i++) {
        unsigned c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ polynomial : c >> 1;
        table[i] = c;
    }
}
void make_table_broken(unsigned polynomial) {
    for (unsigned i = 0; i < 256; i++) {
        unsigned c = i;
        for (int k = 0; k < 7; k++) c = c & 1 ? c >> 1 ^ polynomial : c >> 1;
        table[i] = c;
    }
}

void identity(int m[64][64]) {
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++) m[i][j] = i == j;
}
void identity_broken(int m[64][64]) {
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++) m[i][j] = i == j && i != 63;
}
