extern __thread int maybe __attribute__((weak));

int has(void) { return &maybe != 0; }
int yes(void) { return 1; }
