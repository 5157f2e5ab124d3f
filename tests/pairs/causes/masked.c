/* With `^` the mask does nothing, and an optimising compiler leaves it out. */

unsigned masked(const unsigned char *data, unsigned n) {
    unsigned a = 1;
    for (unsigned i = 0; i < n; i++)
        a = (a + data[i]) & 0xffff;
    return a;
}

unsigned masked_other(const unsigned char *data, unsigned n) {
    unsigned a = 1;
    for (unsigned i = 0; i < n; i++)
        a = (a ^ data[i]) & 0xffff;
    return a;
}
