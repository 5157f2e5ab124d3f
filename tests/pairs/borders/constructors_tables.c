/* The same two constructors in the same order, in tables that a linker reads forwards or backwards. */
static int value;
void set(int x) { value = x; }
static void one(void) { value = 5; }
static void two(void) { value = 6; }
static void (*const first)(void) __attribute__((used, section(TABLE))) = one;
static void (*const last)(void) __attribute__((used, section(TABLE))) = two;
int reads(void) { return value; }
