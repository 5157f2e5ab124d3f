/* Conditions on values that do not change while the loop runs. */

int weighted(const int *a, int n, int twice) {
    int s = 0;
    for (int i = 0; i < n; i++) s += twice ? 2 * a[i] : a[i];
    return s;
}
int weighted_broken(const int *a, int n, int twice) {
    int s = 0;
    for (int i = 0; i < n; i++) s += twice ? 2 * a[i] : -a[i];
    return s;
}

void shifted(unsigned *a, int n, int left, int by) {
    for (int i = 0; i < n; i++) {
        if (left) a[i] <<= by & 31;
        else a[i] >>= by & 31;
    }
}
void shifted_broken(unsigned *a, int n, int left, int by) {
    for (int i = 0; i < n; i++) {
        if (left) a[i] <<= by & 31;
        else a[i] >>= by & 15;
    }
}

unsigned hashed(const unsigned char *p, int n, int fold) {
    unsigned h = 2166136261u;
    for (int i = 0; i < n; i++) {
        unsigned c = p[i];
        if (fold && c >= 'A' && c <= 'Z') c += 32;
        h = (h ^ c) * 16777619u;
    }
    return h;
}
unsigned hashed_broken(const unsigned char *p, int n, int fold) {
    unsigned h = 2166136261u;
    for (int i = 0; i < n; i++) {
        unsigned c = p[i];
        if (fold && c >= 'A' && c < 'Z') c += 32;
        h = (h ^ c) * 16777619u;
    }
    return h;
}

void gated(int *a, const int *b, int n, int first, int second) {
    for (int i = 0; i < n; i++) {
        if (first) a[i] += b[i];
        if (second) a[i] ^= 5;
    }
}
void gated_rewrite(int *a, const int *b, int n, int first, int second) {
    if (!first && !second) return;
    for (int i = 0; i < n; i++) {
        if (first) a[i] += b[i];
        if (second) a[i] ^= 5;
    }
}
void gated_broken(int *a, const int *b, int n, int first, int second) {
    if (!first || !second) return;
    for (int i = 0; i < n; i++) {
        if (first) a[i] += b[i];
        if (second) a[i] ^= 5;
    }
}
