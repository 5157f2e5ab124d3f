/* A function that is called through a pointer, and padding that it leaves to its caller. */
struct padded {
    char small;
    long wide;
};

static void stores(struct padded *p) { *(short *)p = STORED; }
void (*chosen)(struct padded *) = stores;

int reads(struct padded *p) {
    chosen(p);
    return ((char *)p)[1];
}
