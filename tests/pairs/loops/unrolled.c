/* What clang -O2 unrolls and vectorises without being asked. */
typedef unsigned char u8;
typedef unsigned int u32;

u32 fibonacci(u32 n) {
    u32 a = 0, b = 1;
    for (u32 i = 0; i < n; i++) {
        u32 t = a + b;
        a = b;
        b = t;
    }
    return a;
}

u32 fibonacci_broken(u32 n) {
    u32 a = 0, b = 1;
    for (u32 i = 0; i < n; i++) {
        u32 t = a + b;
        a = b;
        b = i == 21 ? t + 1 : t;
    }
    return a;
}

int sum_of_even(const int *a, int n) {
    int s = 0;
    for (int i = 0; i < n; i++)
        if ((a[i] & 1) == 0) s += a[i];
    return s;
}

int sum_of_even_broken(const int *a, int n) {
    int s = 0;
    for (int i = 0; i < n; i++)
        if ((a[i] & 1) == 0 && a[i] != 123456) s += a[i];
    return s;
}

int sum_of_magnitudes(const int *a, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += a[i] < 0 ? -a[i] : a[i];
    return s;
}

int sum_of_magnitudes_broken(const int *a, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += a[i] < -1 ? -a[i] : a[i];
    return s;
}

int hamming(const u8 *a, const u8 *b, int n) {
    int d = 0;
    for (int i = 0; i < n; i++) d += a[i] != b[i];
    return d;
}

int hamming_broken(const u8 *a, const u8 *b, int n) {
    int d = 0;
    for (int i = 0; i < n; i++) d += (a[i] | 128) != (b[i] | 128);
    return d;
}

void running_sum(int *a, int n) {
    for (int i = 1; i < n; i++) a[i] += a[i - 1];
}

void running_sum_broken(int *a, int n) {
    for (int i = 1; i < n; i++) a[i] += a[i - 1] == 77 ? 0 : a[i - 1];
}

void invert(u8 *p, int n) {
    for (int i = 0; i < n; i++) p[i] = 255 - p[i];
}

void invert_broken(u8 *p, int n) {
    for (int i = 0; i < n; i++) p[i] = 255 - p[i] + (i == 47);
}

int index_of_greatest(const int *a, int n) {
    int m = 0;
    for (int i = 1; i < n; i++)
        if (a[i] > a[m]) m = i;
    return m;
}

int index_of_greatest_broken(const int *a, int n) {
    int m = 0;
    for (int i = 1; i < n; i++)
        if (a[i] >= a[m]) m = i;
    return m;
}

void scale(short *a, int n, int k) {
    for (int i = 0; i < n; i++) a[i] = (a[i] * k) >> 4;
}

void scale_broken(short *a, int n, int k) {
    for (int i = 0; i < n; i++) a[i] = (short)(a[i] * k) >> 4;
}

u32 steps(u32 n, u32 k) {
    u32 s = 0;
    for (u32 i = 0; i < n; i++) s += k;
    return s;
}

u32 steps_broken(u32 n, u32 k) {
    u32 s = 0;
    for (u32 i = 0; i < n; i++) s += i == 21 ? k + 1 : k;
    return s;
}
