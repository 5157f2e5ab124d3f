/* What compilers make of loops: vectors, remainder loops, unrolled and straight code. */

int dot(const int *a, const int *b, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}
int dot_broken(const int *a, const int *b, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += a[i] * b[i] + (i == 8);
    return s;
}

int distance(const unsigned char *a, const unsigned char *b, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
    return s;
}
int distance_broken(const unsigned char *a, const unsigned char *b, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += a[i] > b[i] ? a[i] - b[i] : 0;
    return s;
}

void every_other(int *out, const int *in, int n) {
    for (int i = 0; i < n; i++) out[i] = in[2 * i];
}
void every_other_broken(int *out, const int *in, int n) {
    for (int i = 0; i < n; i++) out[i] = in[2 * i + 1];
}

int above(const int *a, int n, int k) {
    int c = 0;
    for (int i = 0; i < n; i++) c += a[i] > k;
    return c;
}
int above_broken(const int *a, int n, int k) {
    int c = 0;
    for (int i = 0; i < n; i++) c += a[i] >= k;
    return c;
}

/* The first element is taken before the loop; up to three are left for straight code. */
int least(const int *a, int n) {
    int found = a[0];
    for (int i = 1; i < n; i++)
        if (a[i] < found) found = a[i];
    return found;
}
int least_broken(const int *a, int n) {
    int found = a[0];
    for (int i = 1; i < n - (n % 4 == 0); i++)
        if (a[i] < found) found = a[i];
    return found;
}
