/* The index of a local array comes from outside. */
int entry(unsigned i) {
    int next[6];
    for (int j = 0; j < 6; j++) next[j] = j * (int)i;
    return next[i];
}
int entry_wrong(unsigned i) {
    int next[6];
    for (int j = 0; j < 6; j++) next[j] = j * (int)i;
    return next[i] + (i == 5);
}
