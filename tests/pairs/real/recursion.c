/* Functions that call themselves. */

unsigned power(unsigned x, unsigned n) {
    return n == 0 ? 1 : x * power(x, n - 1);
}
unsigned power_rewrite(unsigned x, unsigned n) {
    unsigned r = 1;
    for (unsigned i = 0; i < n; i++) r *= x;
    return r;
}
unsigned power_broken(unsigned x, unsigned n) {
    unsigned r = x;
    for (unsigned i = 0; i < n; i++) r *= x;
    return r;
}

unsigned ackermann(unsigned m, unsigned n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}
unsigned ackermann_broken(unsigned m, unsigned n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann_broken(m - 1, 0);
    return ackermann_broken(m - 1, ackermann_broken(m, n - 1));
}

int ninety_one(int n) {
    return n > 100 ? n - 10 : ninety_one(ninety_one(n + 11));
}
int ninety_one_broken(int n) {
    return n >= 100 ? n - 10 : ninety_one_broken(ninety_one_broken(n + 11));
}

int search(const int *a, int low, int high, int key) {
    if (low >= high) return -1;
    int middle = low + (high - low) / 2;
    if (a[middle] == key) return middle;
    if (a[middle] < key) return search(a, middle + 1, high, key);
    return search(a, low, middle, key);
}
int search_rewrite(const int *a, int low, int high, int key) {
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (a[middle] == key) return middle;
        if (a[middle] < key) low = middle + 1;
        else high = middle;
    }
    return -1;
}
int search_broken(const int *a, int low, int high, int key) {
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (a[middle] == key) return middle;
        if (a[middle] < key) low = middle + 1;
        else high = middle - 1;
    }
    return -1;
}
