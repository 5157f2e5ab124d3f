/* A pointer to a function of another name. */
#ifdef OTHER
static int doubled(int x) { return x << 1; }
int (*chosen)(int) = doubled;
#else
static int twice(int x) { return x + x; }
int (*chosen)(int) = twice;
#endif

int chooses(int x) { return chosen(x); }
