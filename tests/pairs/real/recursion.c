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

unsigned steps(unsigned x) {
    return x == 0 ? 0 : steps(x - 1) + 1;
}
unsigned steps_rewrite(unsigned x) {
    return x == 0 ? 0 : x == 1 ? 1 : steps_rewrite(x - 2) + 2;
}
unsigned steps_broken(unsigned x) {
    return x == 0 ? 0 : x == 1 ? 1 : steps_broken(x - 2) + 3;
}

unsigned triangle(unsigned n) {
    return n == 0 ? 0 : n + triangle(n - 1);
}
unsigned triangle_rewrite(unsigned n) {
    unsigned s = 0;
    while (n) s += n--;
    return s;
}
unsigned triangle_broken(unsigned n) {
    unsigned s = 0;
    while (n > 1) s += n--;
    return s;
}

unsigned common(unsigned a, unsigned b) {
    return b == 0 ? a : common(b, a % b);
}
unsigned common_rewrite(unsigned a, unsigned b) {
    while (b) {
        unsigned rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
unsigned common_broken(unsigned a, unsigned b) {
    while (b > 1) {
        unsigned rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

struct node {
    int value;
    struct node *next;
};
int list_sum(const struct node *n) {
    return n ? n->value + list_sum(n->next) : 0;
}
int list_sum_rewrite(const struct node *n) {
    int s = 0;
    for (; n; n = n->next) s += n->value;
    return s;
}
int list_sum_broken(const struct node *n) {
    int s = 0;
    for (; n && n->next; n = n->next) s += n->value;
    return s;
}

int array_sum(const int *a, int n) {
    return n <= 0 ? 0 : a[0] + array_sum(a + 1, n - 1);
}
int array_sum_rewrite(const int *a, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += a[i];
    return s;
}
int array_sum_broken(const int *a, int n) {
    int s = 0;
    for (int i = 1; i < n; i++) s += a[i];
    return s;
}

int is_odd(unsigned n);
int is_even(unsigned n) {
    return n == 0 ? 1 : is_odd(n - 1);
}
int is_odd(unsigned n) {
    return n == 0 ? 0 : is_even(n - 1);
}
int is_even_rewrite(unsigned n) {
    while (n > 1) n -= 2;
    return n == 0;
}
int is_even_broken(unsigned n) {
    while (n > 2) n -= 2;
    return n == 0;
}

unsigned rabbits(unsigned n) {
    return n < 2 ? n : rabbits(n - 1) + rabbits(n - 2);
}
unsigned rabbits_broken(unsigned n) {
    return n < 2 ? 1 : rabbits_broken(n - 1) + rabbits_broken(n - 2);
}

int ninety_one_rewrite(int n) {
    return n > 100 ? n - 10 : 91;
}
int ninety_one_closed_broken(int n) {
    return n > 100 ? n - 10 : 90;
}

int digits(unsigned n) {
    return n < 10 ? 1 : 1 + digits(n / 10);
}
int digits_broken(unsigned n) {
    return n <= 10 ? 1 : 1 + digits_broken(n / 10);
}

void mark(int *a, int n) {
    if (n > 0) {
        a[n - 1] = n;
        mark(a, n - 1);
    }
}
void mark_rewrite(int *a, int n) {
    for (int i = n; i > 0; i--) a[i - 1] = i;
}
void mark_broken(int *a, int n) {
    for (int i = n; i >= 0; i--) a[i] = i + 1;
}
