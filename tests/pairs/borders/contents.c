/* Data that is not the same at first. */

#ifndef K
#define K 1
#endif
#ifndef ENTRY
#define ENTRY 6
#endif

#ifndef MOST
#define MOST 3
#endif
#ifndef LIMIT
#define LIMIT 0x7fffffffL + 1
#endif
#ifndef STEP
#define STEP 1
#endif
#ifndef FLAG
#define FLAG flags.first
#endif
#ifndef TOLD
#define TOLD others
#endif

int k = K;
int m = 5;
int entries[8] = {1, 2, 3, 4, 5, ENTRY, 7, 8};
static const int constants[4] = {1, 2, 3, K};
static const int others[4] = {5, 6, 7, 8};
const int *chosen = constants;
static const int *const both[2] = {constants, others};
const char *names[4] = {"zero", "one", "two", K == 1 ? "three" : "tree"};

int reads(int x) { return x == 123456 ? k : m; }
int counts(void)
{
    static int c = K - 1;
    return c += STEP;
}
int overwrites(int x)
{
    if (x < LIMIT)
        k = x;
    return k + 1;
}
int entry(int i) { return entries[i & MOST]; }
int through_pointer(int i) { return chosen[i & 3]; }
int through_table(int i, int j) { return both[i & 1][j & 3]; }
const char *name(int i) { return names[i & (MOST == 3 ? 1 : 3)]; }

struct flags {
    unsigned first : 3, second : 5, third : 8;
} flags = {1, K, 2};
int flag(void) { return FLAG; }

void observe(const void *);
void tells(void) { observe(TOLD); }
void tells_place(void) { observe(&k); }
