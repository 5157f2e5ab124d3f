/* An outside function cannot return the address of `last`, which one build removes. */
static int last;
int *cell(void);

int set(int x) { *cell() = x; last = x; return last; }

int set_wrong(int x) { *cell() = x; last = x; return last + (x == 9); }
