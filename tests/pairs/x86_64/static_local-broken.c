unsigned next(void) {
    static unsigned last = 7;
    unsigned twice = last + last;
    return last = twice + last + 2;
}
