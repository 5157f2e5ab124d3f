/* A literal that is not listed lies below t: unoptimised code of clang counts to it from an address inside of t. */
#ifdef OTHER
#define THIRD 7
#else
#define THIRD 2
#endif

int inside(long i, int k)
{
    int t[4] = {k, k + 4, k + 5, k + 6};
    return ((int[]){k, k + 1, k + THIRD, k + 3})[i + 5] + t[0];
}
