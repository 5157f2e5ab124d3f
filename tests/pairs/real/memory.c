/* What loops do to memory, the frame among it. */

int modes(const unsigned char *p, int n) {
    int counts[16] = {0};
    int best = 0;
    for (int i = 0; i < n; i++) counts[p[i] & 15]++;
    for (int k = 1; k < 16; k++)
        if (counts[k] > counts[best]) best = k;
    return best;
}
int modes_broken(const unsigned char *p, int n) {
    int counts[16] = {0};
    int best = 0;
    for (int i = 0; i < n; i++) counts[p[i] & 15]++;
    for (int k = 1; k < 16; k++)
        if (counts[k] >= counts[best]) best = k;
    return best;
}

void selection(int *a, int n) {
    for (int i = 0; i + 1 < n; i++) {
        int k = i;
        for (int j = i + 1; j < n; j++)
            if (a[j] < a[k]) k = j;
        int x = a[i];
        a[i] = a[k];
        a[k] = x;
    }
}
void selection_broken(int *a, int n) {
    for (int i = 0; i + 1 < n; i++) {
        int k = i;
        for (int j = i + 1; j < n; j++)
            if (a[j] > a[k]) k = j;
        int x = a[i];
        a[i] = a[k];
        a[k] = x;
    }
}

extern long take(int from, void *to, unsigned long n);
int lines(int from) {
    char buffer[32];
    int c = 0;
    long n = take(from, buffer, 32);
    for (long i = 0; i < n && i < 32; i++) c += buffer[i] == '\n';
    return c;
}
int lines_broken(int from) {
    char buffer[32];
    int c = 0;
    long n = take(from, buffer, 32);
    for (long i = 0; i < n && i < 32; i++) c += buffer[i] == '\r';
    return c;
}

void transpose(int *m, int n) {
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            int x = m[i * n + j];
            m[i * n + j] = m[j * n + i];
            m[j * n + i] = x;
        }
}
void transpose_broken(int *m, int n) {
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            int x = m[i * n + j];
            m[i * n + j] = m[j * n + i];
            m[j * n + i] = x + (i == 2);
        }
}
