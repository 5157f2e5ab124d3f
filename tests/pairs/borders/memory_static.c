/* Static variables that nothing writes. */

static int table[] = {0, 2, 3, 5};
int entry(int i) { return table[i & 3]; }

static int changed[] = {0, 2, 3, 6};
int entry_wrong(int i) { return changed[i & 3]; }

static int factor = 3;
int scaled(int x) { return x * factor; }
int scaled_wrong(int x) { return x * 4; }

int added(int n) {
    static int start = 7;
    static const int *place = &start;
    int sum = *place;
    for (const int *p = table; n-- > 0 && p < table + 4; p++)
        sum += *p;
    return sum;
}
