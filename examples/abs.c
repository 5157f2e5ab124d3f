/* The absolute value: with a branch, with a mask, and with a mask that is one bit too short. */

int branchy(int x)
{
    return x < 0 ? -x : x;
}

int bithack(int x)
{
    int mask = x >> 31;
    return (x ^ mask) - mask;
}

int short_mask(int x)
{
    int mask = x >> 30;
    return (x ^ mask) - mask;
}
