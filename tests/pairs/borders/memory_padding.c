/* Structures with padding, stored through pointers. */

struct mixed {
    char c;
    int l;
};

void put(struct mixed *p, char c, int l) {
    struct mixed m;
    m.c = c;
    m.l = l;
    *p = m;
}

void put_wrong(struct mixed *p, char c, int l) {
    struct mixed m;
    m.c = c;
    m.l = l + 1;
    *p = m;
}

void put_entry(struct mixed *p, unsigned i, char c, int l) {
    struct mixed m;
    m.c = c;
    m.l = l;
    p[i] = m;
}

void put_entry_wrong(struct mixed *p, unsigned i, char c, int l) {
    struct mixed m;
    m.c = c;
    m.l = l;
    p[i + 1] = m;
}

/* Stores that are nothing but padding are meant. */
void mark(struct mixed *p) { ((char *)p)[2] = 5; }
void mark_wrong(struct mixed *p) { ((char *)p)[2] = 6; }

/* What is stored through another pointer is no padding of this one. */
void mark_other(struct mixed *p, char *q) {
    p->c = 1;
    p->l = 2;
    if (q == (char *)p + 1)
        *q = 5;
}
void mark_other_wrong(struct mixed *p, char *q) {
    p->c = 1;
    p->l = 2;
    if (q == (char *)p + 1)
        *q = 6;
}

/* A union has no padding that all its members share, and an array without a size lies where padding would be. */
struct either {
    char c;
    union {
        char d;
        int i;
    } x;
};
void choose(struct either *p) { p->x.i = 5; }
void choose_wrong(struct either *p) { p->x.i = 0x105; }

struct text {
    int n;
    char c;
    char rest[];
};
void begin(struct text *p) {
    p->c = 1;
    p->rest[0] = 5;
}
void begin_wrong(struct text *p) {
    p->c = 1;
    p->rest[0] = 6;
}

/* Padding that the function itself reads counts where it goes. */
int read_back(struct mixed *p, char c, int l) {
    put(p, c, l);
    return ((char *)p)[4];
}
int read_back_wrong(struct mixed *p, char c, int l) {
    put(p, c, l);
    return ((char *)p)[1];
}

struct large {
    char c;
    long l;
    int i;
};
struct large made(char c, long l) {
    struct large m;
    m.c = c;
    m.l = l;
    m.i = 3;
    return m;
}
struct large made_wrong(char c, long l) {
    struct large m;
    m.c = c;
    m.l = l;
    m.i = 4;
    return m;
}

void see(struct mixed *p);
void put_and_see(struct mixed *p, char c, int l) {
    struct mixed m;
    m.c = c;
    m.l = l;
    *p = m;
    see(p);
}
