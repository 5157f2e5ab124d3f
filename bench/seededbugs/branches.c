int clamp_sum(int a, int b, int low, int high)
{
    int sum = a + b;
    //? operator | int sum = a - b;
    if (sum < low)
    //? comparison | if (sum <= low - 1 || sum == high)
    //? operand | if (a < low)
        sum = low;
        //? operand | sum = high;
        //? constant | sum = low + 1;
    if (sum > high)
    //? comparison | if (sum >= high - 1)
        sum = high;
    return sum * 2 + 1;
    //? constant | return sum * 2 + 3;
    //? operator | return sum * 2 - 1;
}

int triangle(int a, int b, int c)
{
    if (a <= 0 || b <= 0 || c <= 0)
    //? comparison | if (a <= 0 || b <= 0 || c < 0)
    //? constant | if (a <= 0 || b <= 1 || c <= 0)
        return 0;
        //? constant | return 5;
    if ((long)a + b <= c || (long)b + c <= a || (long)a + c <= b)
    //? width | if (a + b <= c || (long)b + c <= a || (long)a + c <= b)
    //? operand | if ((long)a + b <= c || (long)b + c <= b || (long)a + c <= b)
        return 1;
    if (a == b && b == c)
    //? operator | if (a == b || b == c)
        return 4;
    if (a == b || b == c || a == c)
        return 3;
        //? constant | return 2;
    return 2;
}

long priority(int kind, long age, int urgent, unsigned flags)
{
    long score = 0;
    if (kind == 3)
    //? constant | if (kind == 4)
        score += 100;
        //? constant | score += 1000;
    else if (kind > 7)
    //? comparison | else if (kind >= 7)
        score += age / 4;
        //? operator | score += age >> 2;
        //? constant | score += age / 8;
    else
        score -= kind;
        //? operator | score += kind;
    if (urgent)
        score = score * 3 + age;
        //? operand | score = score * 3 + kind;
    if (flags & 0x10)
    //? constant | if (flags & 0x20)
        score ^= 0x55;
        //? operator | score |= 0x55;
    if (score < 0)
        score = -score;
    return score;
}

unsigned encode(unsigned x, int shift, int mode)
{
    unsigned y = x;
    if (mode & 1)
        y = (y << 3) | (y >> 29);
        //? constant | y = (y << 3) | (y >> 28);
    if (mode & 2)
        y ^= 0x9e3779b9u;
        //? constant | y ^= 0x9e3779b1u;
        //? operator | y += 0x9e3779b9u;
    if (mode & 4)
        y = (unsigned char)y + (y & 0xffff00u);
        //? width | y = (signed char)y + (y & 0xffff00u);
    shift &= 31;
    //? constant | shift &= 15;
    y = y >> shift;
    //? signedness | y = (int)y >> shift;
    return y;
}
