/* Functions that do something special on very few inputs, behind several conditions. Of each there is one with a
   mistake there. */

struct node {
    int v;
    struct node *next;
};

struct tree {
    long key;
    struct tree *left, *right;
};

#ifdef BROKEN
#define WRONG 1
#else
#define WRONG 0
#endif

int magic(unsigned a, unsigned b) {
    if (a * 2654435761u == 0xdeadbeefu)
        if ((a ^ b) == 0x1234)
            if (b % 10 == 7)
                return 40 + WRONG;
    return (int)(a - b);
}

int password(const unsigned char *p) {
    if (p[0] != 'k')
        return 0;
    if ((p[1] ^ p[0]) != 0x1f)
        return 1;
    if (p[2] != (unsigned char)(p[1] + p[0]))
        return 2;
    if ((unsigned char)(p[3] * 3) != 0x2d)
        return 3;
    if (p[4])
        return 4;
    return 5 + WRONG;
}

int command(int group, int code, int value) {
    switch (group) {
    case 2:
        return code + value;
    case 7:
        switch (code & 15) {
        case 3:
            return value;
        case 11:
            switch (value) {
            case -5:
                return 1;
            case 1000000:
                return code > 4096 ? 2 + WRONG : 3;
            case 17:
                return 4;
            }
            return 5;
        case 12:
            return -value;
        }
        return code;
    case 8:
        return code - value;
    case 9:
        return value - code;
    }
    return 0;
}

int triangle(int a, int b, int c) {
    if (a <= 0 || b <= a || c <= b || c > 40)
        return 0;
    if (a * a + b * b != c * c)
        return 1;
    if (a % 5 || b % 3)
        return 2;
    return 3 + WRONG;
}

int list(const struct node *p) {
    if (!p || p->v != 3)
        return 0;
    if (!p->next || p->next->v != 2 * p->v + 1)
        return 1;
    if (!p->next->next || p->next->next->v != p->v * p->next->v)
        return 2;
    return p->next->next->next ? 3 : 4 + WRONG;
}

int descending(const struct node *p) {
    int length = 0;
    while (p->next) {
        if (p->v <= p->next->v)
            return -1;
        p = p->next;
        if (++length == 3)
            return -2;
    }
    return length == 2 && p->v == 77 ? WRONG : length;
}

long balance(const struct tree *t) {
    if (!t)
        return 0;
    if (!t->left || !t->right)
        return t->key;
    if (t->left->key >= t->key || t->right->key <= t->key)
        return -1;
    if (t->left->key + t->right->key != 100)
        return 1;
    return t->left->left == 0 && t->right->right == 0 && t->key == 55 ? 2 + WRONG : 3;
}

int cycle(const struct node *p) {
    if (!p || !p->next)
        return 0;
    if (p->next == p)
        return 1;
    if (p->next->next != p)
        return 2;
    return p->v == 9 && p->next->v == 90 ? 3 + WRONG : 4;
}

unsigned repeat(unsigned x, unsigned y) {
    unsigned n = x & 15, sum = 0;
    for (unsigned i = 0; i < n; i++) {
        if (i == 12 && y == 300)
            sum += WRONG;
        sum += y ^ i;
    }
    return sum;
}

int digits(unsigned n) {
    int count = 0, last = (int)(n % 10);
    do {
        n /= 10;
        count++;
    } while (n);
    if (count == 7 && last == 4)
        return 7 + WRONG;
    return count;
}

unsigned checksum(const unsigned char *p, unsigned n) {
    unsigned sum = 0;
    if (n > 4)
        return 0;
    for (unsigned i = 0; i < n; i++)
        sum = sum * 31 + p[i];
    if (n == 4 && sum == 2948563u && p[0] == 'a')
        return 1 + WRONG;
    return sum;
}

int between(long x, long y) {
    if (x > 1000000)
        if (x < 1000010)
            if (y == x * 2 - 7)
                if ((y & 7) == 5)
                    return 1 + WRONG;
    return (int)(x ^ y);
}
