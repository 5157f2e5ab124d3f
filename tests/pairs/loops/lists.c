/* Linked lists. */

struct node {
    struct node *next;
    unsigned value;
};

void increment(struct node *p) {
    while (p) {
        p->value++;
        p = p->next;
    }
}
void increment_unrolled(struct node *p) {
    while (p) {
        p->value++;
        p = p->next;
        if (p) {
            p->value++;
            p = p->next;
        }
    }
}
void increment_broken(struct node *p) {
    while (p) {
        p->value += 2;
        p = p->next;
        if (p) {
            p->value++;
            p = p->next;
        }
    }
}

void twice(struct node *p) {
    while (p) {
        p->value *= 2;
        p = p->next;
    }
}
void twice_broken(struct node *p) {
    while (p) {
        p->value += p->value + 1;
        p = p->next;
    }
}

struct node *reverse(struct node *p) {
    struct node *before = 0;
    while (p) {
        struct node *next = p->next;
        p->next = before;
        before = p;
        p = next;
    }
    return before;
}
struct node *reverse_broken(struct node *p) {
    struct node *before = p;
    while (p) {
        struct node *next = p->next;
        p->next = before;
        before = p;
        p = next;
    }
    return before;
}

unsigned length(const struct node *p) {
    unsigned n = 0;
    while (p) {
        n++;
        p = p->next;
    }
    return n;
}
unsigned length_rewrite(const struct node *p) {
    unsigned n = 0;
    for (; p && p->next; p = p->next->next) n += 2;
    return p ? n + 1 : n;
}
unsigned length_broken(const struct node *p) {
    unsigned n = 0;
    while (p) {
        p = p->next;
        if (p) n++;
    }
    return n;
}

/* The last node with the value, and a walk that stops at the first. */
struct node *find_last(struct node *p, unsigned value) {
    struct node *found = 0;
    while (p) {
        if (p->value == value) found = p;
        p = p->next;
    }
    return found;
}
struct node *find_last_broken(struct node *p, unsigned value) {
    struct node *found = 0;
    while (p && !found) {
        if (p->value == value) found = p;
        p = p->next;
    }
    return found;
}
