/* Loops that call a function from outside in each iteration. */

int visit(int x);
int leave(int x);
int next(unsigned i);
void put(int c);

void each(const int *a, int n) {
    for (int i = 0; i < n; i++) visit(a[i]);
}
void each_rewrite(const int *a, int n) {
    for (; n > 0; n--) visit(*a++);
}
void each_broken(const int *a, int n) {
    while (n-- > 0) visit(a[n]);
}

unsigned total(const int *a, int n) {
    unsigned s = 0;
    for (int i = 0; i < n; i++) s += (unsigned)visit(a[i]);
    return s;
}
unsigned total_broken(const int *a, int n) {
    unsigned s = 0;
    for (int i = 0; i < n; i++) s -= (unsigned)visit(a[i]);
    return s;
}

void both(int n) {
    for (int i = 0; i < n; i++) {
        visit(i);
        leave(i);
    }
}
void both_rewrite(int n) {
    for (int i = 0; i != n && n > 0; i++) {
        visit(i);
        leave(i);
    }
}
void both_broken(int n) {
    for (int i = 0; i < n; i++) {
        leave(i);
        visit(i);
    }
}

void pump(unsigned i) {
    int c;
    while ((c = next(i++)) >= 0) put(c);
}
void pump_rewrite(unsigned i) {
    for (int c = next(i); c >= 0; c = next(++i)) put(c);
}
void pump_broken(unsigned i) {
    for (int c = next(i); c > 0; c = next(++i)) put(c);
}
