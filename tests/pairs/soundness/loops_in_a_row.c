/* Two loops, of n iterations each. */
unsigned both(unsigned n, volatile unsigned *p) {
    for (unsigned i = 0; i < n; i++) *p = i;
    for (unsigned i = 0; i < n; i++) *p = i + 1;
    return 0;
}
unsigned both_but_10(unsigned n, volatile unsigned *p) {
    for (unsigned i = 0; i < n; i++) *p = i;
    for (unsigned i = 0; i < n; i++) *p = i + 1;
    return n == 10;
}
