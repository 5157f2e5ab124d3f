/* The program's own err(int), which comes back whatever the C library's does. */
#ifndef K
#define K 1
#endif
extern void err(int);
extern void reg(int (*)(int));

static int companion(int x)
{
    err(x);
    return x + K;
}

void given(void)
{
    reg(companion);
}

int through(int x)
{
    void (*p)(int) = err;
    p(x);
    if (x == 0x1234567)
        return K;
    return 5;
}
