/* Floating point in loops: the order of operations stays. */

void blend(float *y, const float *x, int n, float k) {
    for (int i = 0; i < n; i++) y[i] += k * x[i];
}
void blend_broken(float *y, const float *x, int n, float k) {
    for (int i = 0; i < n; i++) y[i] -= k * x[i];
}

double root(double x) {
    double y = x;
    for (int i = 0; i < 8; i++) y = 0.5 * (y + x / y);
    return y;
}
double root_broken(double x) {
    double y = x;
    for (int i = 0; i < 8; i++) y = 0.5 * (x / y - y);
    return y;
}

float energy(const float *a, int n) {
    float s = 0;
    for (int i = 0; i < n; i++) s = s + a[i] * a[i];
    return s;
}
float energy_broken(const float *a, int n) {
    float s = 0;
    for (int i = 0; i < n; i++) s = s + a[i] * s;
    return s;
}

void clamp(double *a, int n, double low) {
    for (int i = 0; i < n; i++)
        if (a[i] < low) a[i] = low;
}
void clamp_broken(double *a, int n, double low) {
    for (int i = 0; i < n; i++)
        if (!(a[i] >= low)) a[i] = low;
}
