unsigned next(void) {
    static unsigned last = 7;
    last = last * 3 + 1;
    return last;
}
