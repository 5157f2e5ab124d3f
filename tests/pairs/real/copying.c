#include <string.h>

struct state {
    unsigned long total;
    unsigned int lanes[8];
    unsigned char rest;
};

/* Without optimisation a call of memcpy with a size that is a constant only where this is called. */
static void *copied(void *to, const void *from, size_t size) { return memcpy(to, from, size); }

void keep(struct state *to, const struct state *from) { copied(to, from, sizeof *to); }

void keep_broken(struct state *to, const struct state *from) {
    copied(to, from, sizeof *to);
    to->lanes[3] = from->lanes[2];
}

/* These blocks may overlap: nothing forbids it. */
static void *moved(void *to, const void *from, size_t size) { return memmove(to, from, size); }

void shift(struct state *to, const struct state *from) { moved(to, from, sizeof *to); }

struct table {
    unsigned int slots[4096];
    unsigned int used, kind;
};

/* Optimised code uses the result of memset in the place of its argument. */
void reset(struct table *table) {
    if (table->kind > 1) {
        memset(table->slots, 0, sizeof table->slots);
        table->used = 0;
        table->kind = 0;
    }
}

void reset_broken(struct table *table) {
    if (table->kind > 1) {
        memset(table->slots, 0, sizeof table->slots);
        table->used = 1;
        table->kind = 0;
    }
}
