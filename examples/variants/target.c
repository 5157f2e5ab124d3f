unsigned swap_halves(unsigned x)
{
    return x << 16 | x >> 16;
}
