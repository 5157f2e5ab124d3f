#include <emmintrin.h>

float twice(float x) { return x * 2.0f; }
float twice_rewrite(float x) { return x + x; }
float twice_broken(float x) { return x * 2.5f; }

float four(float x) { return x * 4.0f; }
float four_rewrite(float x) { return (x + x) + (x + x); }
float four_broken(float x) { return (x + x) * (x + x); }

double same(double x) { return x; }
double minus_zero(double x) {
    double zero = 0.0;
    return x - zero;
}
double plus_zero(double x) {
    double zero = 0.0;
    return x + zero;
}

float product(float x, float y) { return x * y; }
float product_rewrite(float x, float y) { return y * x; }
float product_broken(float x, float y) { return x * -y; }

double difference(double x, double y) { return x - y; }
double difference_rewrite(double x, double y) { return x + -y; }
double difference_broken(double x, double y) { return -(y - x); }

float from_int(int x) { return (float)x; }
float from_int_rewrite(int x) {
    volatile double wide = x;
    return (float)wide;
}
float from_int_broken(int x) { return (float)(x >> 1) * 2.0f; }
float from_long(long x) { return (float)x; }
float from_long_rewrite(long x) {
    volatile double wide = (double)x;
    return (float)wide;
}

int integer(int x) { return x; }
int there_and_back(int x) {
    volatile double number = x;
    return (int)number;
}
int there_and_back_broken(int x) {
    volatile float number = (float)x;
    return (int)number;
}

float narrow(float x) { return x; }
float widened(float x) {
    volatile double wide = x;
    return (float)wide;
}
float widened_broken(float x) {
    volatile int whole = (int)x;
    return (float)whole;
}
double narrowed(double x) {
    volatile float narrow = (float)x;
    return narrow;
}

double absolute(double x) { return __builtin_fabs(x); }
double absolute_rewrite(double x) { return x <= 0.0 ? 0.0 - x : x; }
double absolute_broken(double x) { return x < 0.0 ? -x : x; }

int not_less(double x, double y) { return !(x < y); }
int not_less_rewrite(double x, double y) { return x >= y || x != x || y != y; }
int not_less_broken(double x, double y) { return x >= y; }

float maximum(float x, float y) { return x > y ? x : y; }
float maximum_broken(float x, float y) { return y > x ? y : x; }

double polynomial(double x) { return 1.0 + x * (2.5 + x * (3.0 - x * 0.125)); }
double polynomial_broken(double x) { return 1.0 + 2.5 * x + 3.0 * x * x - 0.125 * x * x * x; }

float between(float x, float y, float t) { return x + (y - x) * t; }
float between_broken(float x, float y, float t) { return x * (1.0f - t) + y * t; }

double dot(double a, double b, double c, double d) { return a * c + b * d; }
double dot_broken(double a, double b, double c, double d) { return a * d + b * c; }

double celsius(double fahrenheit) { return (fahrenheit - 32.0) * 5.0 / 9.0; }
double celsius_broken(double fahrenheit) { return (fahrenheit - 32.0) * (5.0 / 9.0); }

float limited(float x, float low, float high) { return x < low ? low : x > high ? high : x; }
float limited_broken(float x, float low, float high) { return x > high ? high : x < low ? low : x; }

int sign(float x) { return (x > 0.0f) - (x < 0.0f); }
int sign_broken(float x) { return (x > 0.0f) - !(x >= 0.0f); }

int truncated(float x) { return (int)x; }
int truncated_broken(float x) { return (int)(x + 0.5f); }

void add_lanes(float *to, const float *from) {
    float a = to[0] + from[0], b = to[1] + from[1], c = to[2] + from[2], d = to[3] + from[3];
    to[0] = a, to[1] = b, to[2] = c, to[3] = d;
}
void add_lanes_rewrite(float *to, const float *from) {
    _mm_storeu_ps(to, _mm_add_ps(_mm_loadu_ps(to), _mm_loadu_ps(from)));
}
void add_lanes_broken(float *to, const float *from) {
    _mm_storeu_ps(to, _mm_sub_ps(_mm_loadu_ps(to), _mm_loadu_ps(from)));
}

double length(double x, double y) { return __builtin_sqrt(x * x + y * y); }
double length_broken(double x, double y) { return __builtin_sqrt(x * x) + __builtin_sqrt(y * y); }

double mean(const double *values) { return (values[0] + values[1] + values[2]) / 3.0; }
double mean_broken(const double *values) { return (values[0] + (values[1] + values[2])) / 3.0; }

double discriminant(double a, double b, double c) {
    double d = b * b - 4 * a * c;
    return d < 0 ? -1 : d;
}
double discriminant_broken(double a, double b, double c) {
    double d = b * b - 4 * (a * c);
    return d < 0 ? -1 : d;
}
