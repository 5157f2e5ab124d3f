/* Results of type long double, which are on the x87 stack. */

union bits {
    long double number;
    struct {
        unsigned long fraction;
        unsigned short sign_and_exponent;
    } parts;
};

long double with_sign_of(long double x, long double y)
{
    union bits from = {y}, to = {x};
    to.parts.sign_and_exponent &= 0x7fff;
    to.parts.sign_and_exponent |= from.parts.sign_and_exponent & 0x8000;
    return to.number;
}

long double with_sign_flipped(long double x, long double y)
{
    union bits from = {y}, to = {x};
    to.parts.sign_and_exponent &= 0x7fff;
    to.parts.sign_and_exponent |= ~from.parts.sign_and_exponent & 0x8000;
    return to.number;
}

/* The exponent stays in an integer result register, which is not the result. */
long double rounded(long double x)
{
    union bits u = {x};
    int exponent = u.parts.sign_and_exponent & 0x7fff;
    if (exponent >= 0x3fff + 63)
        return x;
    return u.parts.sign_and_exponent >> 15 ? x - 0x1p63L + 0x1p63L : x + 0x1p63L - 0x1p63L;
}

long double rounded_up(long double x)
{
    union bits u = {x};
    int exponent = u.parts.sign_and_exponent & 0x7fff;
    if (exponent >= 0x3fff + 62)
        return x;
    return u.parts.sign_and_exponent >> 15 ? x - 0x1p63L + 0x1p63L : x + 0x1p63L - 0x1p63L;
}
