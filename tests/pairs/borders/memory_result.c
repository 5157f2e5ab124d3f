/* A structure that is returned in memory, made of what pointers lead to. */

struct five {
    long a[5];
};

struct five turned(const struct five *p) {
    struct five r = *p;
    r.a[0] = p->a[1] + p->a[4];
    r.a[1] = p->a[0];
    return r;
}

struct five turned_wrong(const struct five *p) {
    struct five r = *p;
    r.a[0] = p->a[1] + p->a[4];
    r.a[1] = r.a[0];
    return r;
}

/* What the space for the result holds may be read back through its own address. */
struct five summed(const struct five *p, int n) {
    struct five r = *p;
    for (int i = 0; i < 4; i++)
        r.a[i + 1] += r.a[i] * n;
    return r;
}

struct five summed_wrong(const struct five *p, int n) {
    struct five r = *p;
    for (int i = 0; i < 4; i++)
        r.a[i + 1] += p->a[i] * n;
    return r;
}
