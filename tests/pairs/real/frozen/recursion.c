/* Functions that call themselves. */

unsigned depth(unsigned n) {
    return n == 0 ? 0 : depth(n - 1) + 1;
}
unsigned depth_rewrite(unsigned n) {
    return n < 2 ? n : depth_rewrite(n - 2) + 2;
}
unsigned depth_broken(unsigned n) {
    return n < 2 ? n : depth_broken(n - 2) + (n == 9 ? 3 : 2);
}

unsigned factorial(unsigned n) {
    return n < 2 ? 1 : n * factorial(n - 1);
}
unsigned factorial_rewrite(unsigned n) {
    unsigned r = 1;
    while (n > 1) r *= n--;
    return r;
}
unsigned factorial_broken(unsigned n) {
    unsigned r = 1;
    while (n > 2) r *= n--;
    return r;
}

unsigned divisor(unsigned a, unsigned b) {
    return b == 0 ? a : divisor(b, a % b);
}
unsigned divisor_rewrite(unsigned a, unsigned b) {
    while (b != 0) {
        unsigned r = a % b;
        a = b;
        b = r;
    }
    return a;
}
unsigned divisor_broken(unsigned a, unsigned b) {
    while (b > 1) {
        unsigned r = a % b;
        a = b;
        b = r;
    }
    return a;
}

unsigned fibonacci(unsigned n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
unsigned fibonacci_broken(unsigned n) {
    return n < 2 ? 1 : fibonacci_broken(n - 1) + fibonacci_broken(n - 2);
}

struct node {
    struct node *next;
    int value;
};
int total(const struct node *list) {
    return list ? list->value + total(list->next) : 0;
}
int total_rewrite(const struct node *list) {
    int s = 0;
    for (; list; list = list->next) s += list->value;
    return s;
}
int total_broken(const struct node *list) {
    int s = 0;
    for (; list && list->next; list = list->next) s += list->value;
    return s;
}

static int is_odd(unsigned n);
int is_even(unsigned n) {
    return n == 0 ? 1 : is_odd(n - 1);
}
static int is_odd(unsigned n) {
    return n == 0 ? 0 : is_even(n - 1);
}
int is_even_rewrite(unsigned n) {
    return n % 2 == 0;
}
int is_even_broken(unsigned n) {
    return n % 4 == 0;
}
