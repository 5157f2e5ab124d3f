/* Locals that outside functions are given to fill. */

int reduce(double x, double *parts);
double kernel(double, double);
void note(int, ...);

double reduced(double x) {
    double y[2];
    int n = reduce(x, y);
    if (n & 1)
        return kernel(y[0], y[1]);
    return y[0] - y[1];
}

double reduced_wrong(double x) {
    double y[2];
    int n = reduce(x, y);
    if (n & 1)
        return kernel(y[0], y[1]);
    return y[0] - y[1] + 1;
}

int noted(int x) {
    int l = x;
    note(1, &l);
    return l;
}

int noted_wrong(int x) {
    int l = x;
    note(1, &l);
    return l + 1;
}

struct list {
    struct list *next;
    int *value;
};
int walk(struct list *l);

/* The callee finds the address of a local in memory. */
int shown(struct list *l) {
    int own = 3;
    l->value = &own;
    int r = walk(l);
    l->value = 0;
    return r;
}

int shown_wrong(struct list *l) {
    int own = 3;
    l->value = &own;
    int r = walk(l);
    l->value = 0;
    return r + 1;
}

/* A text that an outside function puts into a local, and that is written then. */
int snprintf(char *, unsigned long, const char *, ...);
int puts(const char *);
void told(int x) {
    char text[32];
    snprintf(text, sizeof text, "%d", x);
    puts(text);
}
void told_broken(int x) {
    char text[32];
    snprintf(text, sizeof text, "%d", x + 1);
    puts(text);
}
