unsigned rotate_right(unsigned long amount, unsigned x)
{
#ifdef BUG
    amount &= 15;
#else
    amount &= 31;
#endif
    return x >> amount | x << (-amount & 31);
}
