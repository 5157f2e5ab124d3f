/* What loops do to memory, the frame among it. */

void running(int *out, const int *in, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        s += in[i];
        out[i] = s;
    }
}
void running_broken(int *out, const int *in, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        out[i] = s;
        s += in[i];
    }
}

void rotate(int *a, int n) {
    if (n < 1) return;
    int first = a[0];
    for (int i = 0; i + 1 < n; i++) a[i] = a[i + 1];
    a[n - 1] = first;
}
void rotate_broken(int *a, int n) {
    if (n < 1) return;
    int first = a[0];
    for (int i = 0; i + 1 < n; i++) a[i] = a[i + 1];
    a[n - 1] = first + (n == 5);
}

void reverse(int *a, int n) {
    for (int i = 0, j = n - 1; i < j; i++, j--) {
        int x = a[i];
        a[i] = a[j];
        a[j] = x;
    }
}
void reverse_broken(int *a, int n) {
    for (int i = 0, j = n - 1; i < j; i++, j -= 1 + (i == 4)) {
        int x = a[i];
        a[i] = a[j];
        a[j] = x;
    }
}

int digits(unsigned x, char *out) {
    char local[10];
    int n = 0, k = 0;
    do local[n++] = (char)('0' + x % 10);
    while ((x /= 10) != 0);
    while (n > 0) out[k++] = local[--n];
    return k;
}
int digits_broken(unsigned x, char *out) {
    char local[10];
    int n = 0, k = 0;
    do local[n++] = (char)('0' + x % 10);
    while ((x /= 10) > 1);
    while (n > 0) out[k++] = local[--n];
    return k;
}

extern void ask(int which, int *answer);
int asked(int n) {
    int s = 0, v = 0;
    for (int i = 0; i < n; i++) {
        ask(i, &v);
        s += v;
    }
    return s;
}
int asked_broken(int n) {
    int s = 0, v = 0;
    for (int i = 0; i < n; i++) {
        ask(i, &v);
        s += i == 3 ? 0 : v;
    }
    return s;
}

extern void both(double angle, double *sine, double *cosine);
double tangent(double angle) {
    double s, c;
    both(angle, &s, &c);
    return s / c;
}
double tangent_broken(double angle) {
    double s, c;
    both(angle, &s, &c);
    return c / s;
}
