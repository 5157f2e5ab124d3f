/* Loops with a fixed trip count, some of them long. */

void axpy_block(int *y, const int *x, int k) {
    for (int i = 0; i < 2048; i++) y[i] += k * x[i];
}
void axpy_block_broken(int *y, const int *x, int k) {
    for (int i = 0; i < 2047; i++) y[i] += k * x[i];
}

int peaks[512];
int highest_peak(void) {
    int m = peaks[0];
    for (int i = 1; i < 512; i++)
        if (peaks[i] > m) m = peaks[i];
    return m;
}
int highest_peak_broken(void) {
    int m = peaks[0];
    for (int i = 1; i < 511; i++)
        if (peaks[i] > m) m = peaks[i];
    return m;
}

int tally[256];
void count_bytes(const unsigned char *p) {
    for (int i = 0; i < 1024; i++) tally[p[i]]++;
}
void count_bytes_broken(const unsigned char *p) {
    for (int i = 0; i < 1024; i++) tally[p[i] & 127]++;
}

unsigned scramble(unsigned x) {
    for (int i = 0; i < 500; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    return x;
}
unsigned scramble_broken(unsigned x) {
    for (int i = 0; i < 500; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 6;
    }
    return x;
}
