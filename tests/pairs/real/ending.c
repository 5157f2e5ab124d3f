/* A loop against code that has none, or another: why the loop ends is part of the proof. */

unsigned halved(unsigned n) {
    unsigned c = 0;
    for (unsigned i = 1; i < n; i += 2) c++;
    return c;
}
unsigned halved_rewrite(unsigned n) {
    return n / 2;
}
unsigned halved_broken(unsigned n) {
    return n / 2 + (n == 13);
}

int below_ten(int x) {
    while (x >= 10) x -= 10;
    return x;
}
int below_ten_rewrite(int x) {
    return x < 0 ? x : x % 10;
}
int below_ten_broken(int x) {
    return x % 10;
}

unsigned two_sums(unsigned n) {
    unsigned s = 0;
    for (unsigned i = 0; i < n; i++) s += 3;
    for (unsigned i = 0; i < n; i++) s += 4;
    return s;
}
unsigned two_sums_rewrite(unsigned n) {
    return 7 * n;
}
unsigned two_sums_broken(unsigned n) {
    return 7 * n - (n > 9);
}

int idle(int x, int n) {
    int unused = 0;
    for (int i = 0; i < n; i++) unused += i;
    return x + (unused & 0);
}
int idle_rewrite(int x, int n) {
    (void)n;
    return x;
}
int idle_broken(int x, int n) {
    return x + (n == 4);
}

int nested(unsigned rows, unsigned columns) {
    int seven = 7;
    for (unsigned i = 0; i < rows; i++)
        for (unsigned j = 0; j < columns; j++) {}
    return seven;
}
int nested_rewrite(unsigned rows, unsigned columns) {
    (void)rows;
    (void)columns;
    return 7;
}
int nested_broken(unsigned rows, unsigned columns) {
    return 7 + (rows == 3 && columns == 2);
}
int nested_forever(unsigned rows, unsigned columns) {
    for (unsigned i = 0; i < rows; i++)
        for (unsigned j = 0; j < columns; j++)
            if (j == 9 && rows == 12) j = 3;
    return 7;
}

struct link { struct link *next; };
int emptied(const struct link *l) {
    while (l) l = l->next;
    return l == 0;
}
int emptied_rewrite(const struct link *l) {
    (void)l;
    return 1;
}
int emptied_broken(const struct link *l) {
    return l == 0 || l->next == 0;
}
