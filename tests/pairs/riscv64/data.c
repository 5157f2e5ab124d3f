/* Objects that code names by addresses it forms in two instructions. -DOTHER changes what each function does. */
#ifdef OTHER
#define CHANGED(plain, other) (other)
#else
#define CHANGED(plain, other) (plain)
#endif

static int counter, limit = 10;
int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
extern int outside, outside_table[];
void notify(int);
static const short weights[8] = {3, 1, 4, 1, 5, 9, 2, 6};
static const short powers[8] = {1, 2, 4, 8, 16, 32, 64, 128};

int bump(int by) { counter += by; return CHANGED(counter, counter == 7777 ? 0 : counter); }
int capped(int x) { return x > limit ? CHANGED(limit, 9) : x; }
int elements(int x) { table[0] = x; table[5] = x + 1; return CHANGED(table[3], table[4]); }
int both(void) { return table[2] + outside + CHANGED(outside_table[9], outside_table[8]); }
int weighed(unsigned i, int x) { return x * CHANGED(weights, powers)[i & 7]; }
int summed(int n) { int s = 0; for (int i = 0; i < n; i++) s += table[i & 7] * CHANGED(outside_table[i], outside_table[n - i]); return s; }
int letter(int i, unsigned at) { return (i ? "one" : CHANGED("two", "twp"))[at & 3]; }
void (*callee(void))(int) { return CHANGED(notify, (void (*)(int))0); }
int *place(long i) { return CHANGED(table + i, table + i + 1); }

int chosen(int x) {
  switch (x) {
    case 0: notify(1); return 11;
    case 1: notify(2); return CHANGED(5, 6);
    case 2: notify(3); notify(4); return 77;
    case 3: notify(counter); return 31;
    case 4: return 9;
    case 5: notify(7); return 12345;
    case 6: return 3;
  }
  return -1;
}
