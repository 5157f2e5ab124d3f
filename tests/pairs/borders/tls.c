#ifndef K
#define K 1
#endif
#ifndef STEP
#define STEP 1
#endif
static int body(int x) { return x + STEP; }

__thread int count = K;
static __thread int seen, other = 5;
static __thread long table[4] = {1, 2, 3, 4};
extern __thread int outside;
__thread int (*handler)(int) = body;
void look(int *where);

int reads(int x) { return STEP * count + x; }

int several(int x)
{
    int before = seen + other + (int)table[x & 3];
    seen = x;
    other += STEP;
    table[1] = x;
    return before;
}

int *place(int i) { return i ? &count + i : &outside + STEP; }

int aliased(int *p, int *q)
{
    outside = 1;
    *p = 2;
    count = 3;
    *q += STEP;
    return outside + count;
}

int calls(int x) { return handler(x); }

int gives(void)
{
    other = STEP;
    look(&other);
    return other;
}
