/* Data that a constructor sets and only a function whose address is given away reads. */
int value, other;
__attribute__((constructor)) static void begin(void) { FIRST = STEP; }
static int read_value(int x) { return x + value; }
void give(int (*)(int));
void gives(void) { give(read_value); }
void gives_twice(void) {
    give(read_value);
    give(read_value);
}
