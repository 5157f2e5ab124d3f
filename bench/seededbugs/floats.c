double blend(double a, double b, double t)
{
    double d = b - a;
    //? operator | double d = b + a;
    //? operand | double d = b - t;
    if (t < 0.0)
    //? comparison | if (t <= 0.5)
        t = 0.0;
        //? constant | t = 0.25;
    if (t > 1.0)
    //? constant | if (t > 2.0)
        t = 1.0;
    return a + d * t;
    //? operand | return b + d * t;
    //? operator | return a - d * t;
}

float celsius(float f, int kelvin)
{
    float c = (f - 32.0f) * 5.0f / 9.0f;
    //? constant | float c = (f - 31.0f) * 5.0f / 9.0f;
    //? constant | float c = (f - 32.0f) * 5.0f / 8.0f;
    if (kelvin)
        c += 273.15f;
        //? constant | c += 273.25f;
        //? operator | c -= 273.15f;
    return c;
}

int compare_doubles(double a, double b)
{
    if (a < b)
    //? comparison | if (a <= b)
        return -1;
        //? constant | return -2;
    if (a > b)
    //? operand | if (a > a)
        return 1;
    return 0;
    //? constant | return 7;
}

double area(const double *p, int closed)
{
    double s = p[0] * p[3] - p[2] * p[1];
    //? operator | double s = p[0] * p[3] + p[2] * p[1];
    //? operand | double s = p[0] * p[2] - p[2] * p[1];
    s += p[2] * p[5] - p[4] * p[3];
    //? operand | s += p[2] * p[5] - p[4] * p[4];
    if (closed)
        s += p[4] * p[1] - p[0] * p[5];
        //? operator | s -= p[4] * p[1] - p[0] * p[5];
    return s / 2;
    //? constant | return s / 4;
}

long rounded(double x, int scale)
{
    double y = x * scale;
    //? operator | double y = x + scale;
    long n = (long)y;
    //? width | long n = (int)y;
    if (n > 100000)
    //? constant | if (n > 10000)
        n = 100000;
        //? constant | n = 100001;
    return n + scale;
    //? operator | return n - scale;
}
