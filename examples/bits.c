/* Bit counting and averaging: the textbook loop-free tricks against plain versions. */

unsigned average(unsigned x, unsigned y)
{
    return (unsigned)(((unsigned long long)x + y) / 2);
}

unsigned average_tricky(unsigned x, unsigned y)
{
    return (x & y) + ((x ^ y) >> 1);
}

unsigned average_naive(unsigned x, unsigned y)
{
    return (x + y) / 2;
}

int is_power_of_two(unsigned x)
{
    return x != 0 && (x & (x - 1)) == 0;
}

int is_power_of_two_naive(unsigned x)
{
    return (x & (x - 1)) == 0;
}

unsigned quartic(unsigned x)
{
    return x * (x + 1) * (x + 2) * (x + 3);
}

unsigned quartic_expanded(unsigned x)
{
    return x * x * x * x + 6 * x * x * x + 11 * x * x + 6 * x;
}
