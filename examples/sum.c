/* The sum of an array: one source whose loop two compilers, or two levels, turn into different loops. */
int sum(int *a, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += a[i];
    return s;
}

/* From the other end, and one element too few. */
int sum_down(int *a, int n) {
    int s = 0;
    for (int i = n - 1; i > 0; i--) s += a[i];
    return s;
}
