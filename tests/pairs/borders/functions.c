/* Functions whose address goes somewhere, and calls through pointers to them. BODY and OTHER are what two of them do. */

#ifndef BODY
#define BODY x + 1
#endif
#ifndef OTHER
#define OTHER x * 7
#endif

typedef int (*step)(int);

void qsort(void *, unsigned long, unsigned long, int (*)(const void *, const void *));
void register_handler(step);

#ifndef NAME
#define NAME h
#endif
static int NAME(int x) { return BODY; }
#define h NAME
static __attribute__((noinline)) int fa(int x) { return x - 3; }
static __attribute__((noinline)) int fb(int x) { return OTHER; }

/* Of two bodies that do the same. */
#ifdef ROUNDABOUT
static int cmp(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    if (x == y)
        return 0;
    return x > y ? 1 : -1;
}
#elif defined(BACKWARDS)
static int cmp(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x < y) - (x > y);
}
#else
static int cmp(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}
#endif

void passed(int *p, unsigned long n) { qsort(p, n, 4, cmp); }

void registered(int x)
{
    if (x == 0x12345678)
        register_handler(h);
}

step last;
void stored(void) { last = h; }

step returned(int k) { return k == 77777 ? h : fa; }

static const step table[] = {h, fa, fb, h};
int through_table(int i, int x) { return table[i & 3](x); }
const step *shown_table(void) { return table; }

int through_choice(int k, int x) { return (k ? fa : fb)(x); }

int through_choice_or_given(int k, step given, int x) { return (k ? fb : given)(x); }

int through_volatile(int x)
{
    step volatile p = h;
    return p(x);
}

struct operations {
    step first, second;
};
static const struct operations fixed = {fa, fb};
int through_structure(int k, int x)
{
    const struct operations *o = &fixed;
    return k ? o->first(x) : o->second(x);
}

struct operations changing = {fa, fb};
int through_writable(int k, int x) { return k > 1000 ? changing.second(x) : x; }

/* A companion that rests on a companion. */
static __attribute__((noinline)) void outer(int x) { register_handler(x ? h : fa); }
void (*indirectly(void))(int) { return outer; }

/* Companions that hand each other on. */
static step pong(int x);
static void *ping(int x) { return x ? (void *)pong : (void *)h; }
static step pong(int x) { return x > 5 ? (step)ping : fa; }
void *rally(void) { return (void *)ping; }

struct handler {
    int number;
    step call;
    char name[20];
};
static const struct handler one = {1, h, "one"};
void copied(int x, struct handler *out)
{
    if (x == 12345)
        *out = one;
}
