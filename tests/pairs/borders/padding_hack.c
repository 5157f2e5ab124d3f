/* Compilers take an array at the end of a structure for one of any length. */
struct list {
    int count;
    char kind;
    char items[1];
};

void stores(struct list *p) {
    p->items[0] = 1;
    p->items[1] = 2;
}

void stores_other(struct list *p) {
    p->items[0] = 1;
    p->items[1] = 3;
}
