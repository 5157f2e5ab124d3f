#ifndef BODY
#define BODY x + 2
#endif
#ifndef CHOICE
#define CHOICE second
#endif
__attribute__((noinline)) static int first(int x) { return x + 1; }
__attribute__((noinline)) static int second(int x) { return BODY; }
int setting;

static int (*resolve(void))(int) { return CHOICE; }
int chosen(int x) __attribute__((ifunc("resolve")));

int calls(int x) { return 3 * chosen(x); }
int (*gives(void))(int) { return chosen; }
