/* Three ways to write the absolute value. The last one forgets that a product can overflow. */

int branchy(int x) { return x < 0 ? -x : x; }

int bithack(int x)
{
    int mask = x >> 31;
    return (x + mask) ^ mask;
}

int doubled(int x)
{
    int sign = 1 | (x >> 30);
    return sign * x;
}
