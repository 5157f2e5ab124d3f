/* Floating point in loops: the order of operations stays. */

float added(const float *a, int n) {
    float s = 0;
    for (int i = 0; i < n; i++) s += a[i];
    return s;
}
float added_broken(const float *a, int n) {
    float s = 0;
    for (int i = n - 1; i >= 0; i--) s += a[i];
    return s;
}

double polynomial(const double *c, int n, double x) {
    double y = 0;
    for (int i = n - 1; i >= 0; i--) y = y * x + c[i];
    return y;
}
double polynomial_broken(const double *c, int n, double x) {
    double y = 0;
    for (int i = 0; i < n; i++) y = y * x + c[i];
    return y;
}

double inner(const double *a, const double *b, int n) {
    double s = 0;
    for (int i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}
double inner_broken(const double *a, const double *b, int n) {
    double s = 0;
    for (int i = 0; i < n; i++) s -= a[i] * b[i];
    return s;
}

void scale(float *a, int n, float k) {
    for (int i = 0; i < n; i++) a[i] = a[i] * k + 1.0f;
}
void scale_broken(float *a, int n, float k) {
    for (int i = 0; i < n; i++) a[i] = a[i] * k - 1.0f;
}

double mean(const int *a, int n) {
    double s = 0;
    for (int i = 0; i < n; i++) s += a[i];
    return n > 0 ? s / n : 0.0;
}
double mean_broken(const int *a, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += a[i];
    return n > 0 ? (double)s / n : 0.0;
}

float largest(const float *a, int n) {
    float m = a[0];
    for (int i = 1; i < n; i++)
        if (a[i] > m) m = a[i];
    return m;
}
float largest_broken(const float *a, int n) {
    float m = a[0];
    for (int i = 1; i < n; i++)
        if (!(a[i] <= m)) m = a[i];
    return m;
}
