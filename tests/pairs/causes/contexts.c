/* The difference is in a callee that is called several times: one instruction, in several contexts. */

__attribute__((noinline)) static int scaled(int x) {
    return x * 3 + 1;
}
__attribute__((noinline)) static int scaled_other(int x) {
    return x * 3 + 2;
}

int called_twice(int a, int b) { return scaled(a) + scaled(b); }
int called_twice_other(int a, int b) { return scaled_other(a) + scaled_other(b); }

int wrong_caller(int a, int b) {
    return scaled(a) + scaled(b) + 7;
}

int wrong_caller_other(int a, int b) {
    return scaled(a) + scaled(b) + 9;
}

int two_callees(int a, int b) {
    return scaled(a) +
           scaled_other(b);
}

int one_callee(int a, int b) {
    return scaled(a) +
           scaled(b);
}

int in_loop(const int *p, int n) {
    int s = 0;
    for (int i = 0; i < n; i++)
        s += scaled(p[i]) ^ scaled(s);
    return s;
}

int in_loop_other(const int *p, int n) {
    int s = 0;
    for (int i = 0; i < n; i++)
        s += scaled_other(p[i]) ^ scaled_other(s);
    return s;
}
