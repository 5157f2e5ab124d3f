/* A structure that is aligned to 16 bytes begins at a multiple of 16 among the arguments on the stack. */
struct aligned { int a; char *c; } __attribute__((aligned(16)));
struct member { long a __attribute__((aligned(16))); long b; };
typedef long wide __attribute__((aligned(16)));
struct named { wide a; long b; };
struct nested { struct aligned x; };
typedef struct { long a, b; } pair;
typedef pair aligned_pair __attribute__((aligned(16)));

void g(long, long, long, long, long, long, long, struct aligned, int, struct member, int, struct named, int,
       struct nested, int, aligned_pair, int);

void pass(struct aligned *a, struct member *b, struct named *c, struct nested *d, pair *e)
{
    aligned_pair p = {e->a, e->b};
    g(1, 2, 3, 4, 5, 6, 7, *a, 8, *b, 9, *c, 10, *d, 11, p, 12);
}

void pass_other(struct aligned *a, struct member *b, struct named *c, struct nested *d, pair *e)
{
    aligned_pair p = {e->a, e->b ^ 1};
    g(1, 2, 3, 4, 5, 6, 7, *a, 8, *b, 9, *c, 10, *d, 11, p, 12);
}
