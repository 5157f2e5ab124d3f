/* The number v lies before t: an optimiser counts from t to write a byte of v. */
#ifdef OTHER
#define MORE 1
#else
#define MORE 0
#endif
unsigned long from_end(unsigned char x, unsigned i, unsigned n, unsigned c) {
    unsigned char t[8] = {0};
    unsigned long v = 0;
    if (c)
        return c;
    t[i & 7] = n;
    unsigned char *e = (unsigned char *)(&v + 1);
    e[-1 - (long)(n & 7)] = x;
    return v + t[(i + 1) & 7] + (n == 5 ? MORE : 0);
}
