/* What runs when a file is loaded, and in which order. */
int value;
static int step(int x) { return x + STEP; }
int (*chosen)(int);

__attribute__((constructor(101))) static void begin(void) {
    value = 1;
    chosen = step;
}
__attribute__((constructor(SECOND))) static void follow(void) { value = value * 2 + 5; }

int reads(void) { return value; }
int calls(int x) { return chosen(x); }
