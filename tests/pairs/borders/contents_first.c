/* A table that is filled when the file is loaded. */
static int table[4];
#ifdef TWICE
#define FACTOR 2
#else
#define FACTOR 1
#endif
__attribute__((constructor)) static void fill(void) {
    for (int i = 0; i < 4; i++) table[i] = FACTOR * i;
}
int entry(int i) { return table[i & 3]; }
int entry_broken(int i) { return table[(i + 1) & 3]; }
