/* Functions whose address is given away, and which differ or not depending on the options of the question. */
typedef int (*step)(int);
extern void register_handler(step);
extern int weigh(int);

static __attribute__((noinline)) int weighed(int x)
{
#ifdef ONCE
    return 2 * weigh(x);
#elif defined OTHER
    return weigh(x) + weigh(x + 1);
#else
    return weigh(x) + weigh(x);
#endif
}

static int local_entry(int i)
{
    volatile int unused = 5;
    int squares[4] = {0, 1, 4, 9};
#ifdef OTHER
    squares[2] = 5;
#endif
    return squares[i];
}

void registers_weighed(void) { register_handler(weighed); }
void registers_entry(void) { register_handler(local_entry); }
