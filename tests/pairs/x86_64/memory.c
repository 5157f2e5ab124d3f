/* Memory: aliasing, order, copies, tables, globals. */
#include <string.h>

void swap(unsigned *a, unsigned *b) {
    unsigned old = *a;
    *a = *b;
    *b = old;
}
void swap_rewrite(unsigned *a, unsigned *b) {
    *a ^= *b;
    *b ^= *a;
    *a ^= *b;
}
void swap_broken(unsigned *a, unsigned *b) {
    *a = *b;
    *b = *a;
}

void store_two(int *p, int *q) {
    *p = 1;
    *q = 2;
}
void store_two_rewrite(int *p, int *q) {
    *q = 2;
    *p = 1;
}

void store_two_broken(int *p, int *q) {
    *p = 2;
    *q = 1;
}

struct three { long first, second, third; };
void copy_struct(struct three *to, const struct three *from) {
    long first = from->first, second = from->second, third = from->third;
    to->first = first;
    to->second = second;
    to->third = third;
}
void copy_struct_rewrite(struct three *to, const struct three *from) {
    long third = from->third, first = from->first, second = from->second;
    to->third = third;
    to->second = second;
    to->first = first;
}
void copy_struct_broken(struct three *to, const struct three *from) {
    to->first = from->first;
    to->second = from->second;
    to->third = from->third;
}

struct padded { char tag; long value; };
void copy_padded(struct padded *to, const struct padded *from) {
    long value = from->value;
    to->tag = from->tag;
    to->value = value;
}
void copy_padded_broken(struct padded *to, const struct padded *from) {
    to->tag = from->tag + 1;
    to->value = from->value;
}
void copy_padded_rewrite(struct padded *to, const struct padded *from) { memcpy(to, from, sizeof *to); }

void copy_sixteen(char *to, const char *from) { memcpy(to, from, 16); }
void copy_sixteen_rewrite(char *to, const char *from) {
    unsigned long low, high;
    memcpy(&low, from, 8);
    memcpy(&high, from + 8, 8);
    memcpy(to, &low, 8);
    memcpy(to + 8, &high, 8);
}
void copy_sixteen_broken(char *to, const char *from) {
    unsigned long low, high;
    memcpy(&low, from, 8);
    memcpy(to, &low, 8);
    memcpy(&high, from + 8, 8);
    memcpy(to + 8, &high, 8);
}

struct pair { long x, y; };
struct pair make_pair(long x, long y) { return (struct pair){x + y, x - y}; }
struct pair make_pair_broken(long x, long y) { return (struct pair){x + y, y - x}; }

struct large { int parts[6]; };
struct large make_large(int x) {
    struct large made = {{x, x + 1, x + 2, x + 3, x + 4, x + 5}};
    return made;
}
struct large make_large_broken(int x) {
    struct large made = {{x, x + 1, x + 2, x + 3, x + 5, x + 5}};
    return made;
}

static const unsigned char ones[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
static const unsigned char wrong_ones[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 2, 3, 4};
int table(unsigned x) { return ones[x & 15]; }
int table_rewrite(unsigned x) { return (x & 1) + (x >> 1 & 1) + (x >> 2 & 1) + (x >> 3 & 1); }
int table_broken(unsigned x) { return wrong_ones[x & 15]; }

int counter;
int limit = 10;
int count(void) {
    if (counter < limit)
        counter = counter + 1;
    return counter;
}
int count_rewrite(void) {
    int old = counter;
    counter = old + (old < limit);
    return old + (old < limit);
}
int count_broken(void) {
    if (counter < limit)
        counter = counter + 1;
    return limit;
}
int count_written_too_often(void) {
    limit = limit;
    if (counter < limit)
        counter = counter + 1;
    return counter;
}

int sum_elements(const int *values, long i) { return values[i] + values[i + 1]; }
int sum_elements_rewrite(const int *values, long i) {
    const int *at = values + i + 1;
    return at[-1] + *at;
}
int sum_elements_broken(const int *values, int i) { return values[i] + values[i + 1]; }

long through(long *p, long *q) {
    *p = 5;
    *q = 7;
    return *p;
}
long through_rewrite(long *p, long *q) {
    *p = 5;
    *q = 7;
    return p == q ? 7 : 5;
}

int remembered;
int square_remembered(int x) {
    remembered = x;
    return (int)((unsigned)x * (unsigned)x);
}
int square_plain(int x) { return (int)((unsigned)x * (unsigned)x); }
int square_wrong(int x) { return (int)((unsigned)x * (unsigned)(x | 1)); }

int alias_global(int *p) {
    limit = 1;
    *p = 2;
    return limit;
}
int alias_global_rewrite(int *p) {
    limit = 1;
    *p = 2;
    return *(volatile int *)&limit;
}
int alias_global_broken(int *p) {
    limit = 1;
    *p = 2;
    return 1;
}

void clear(char *p) { memset(p, 0, 24); }
void clear_rewrite(char *p) {
    for (int i = 0; i < 24; i++)
        ((volatile char *)p)[i] = 0;
}
void clear_broken(char *p) {
    for (int i = 0; i < 23; i++)
        ((volatile char *)p)[i] = 0;
}

long distance(const int *p, const int *q) { return p - q; }
long distance_rewrite(const int *p, const int *q) { return (long)((unsigned long)p - (unsigned long)q) >> 2; }
long distance_broken(const int *p, const int *q) { return (long)((unsigned long)p - (unsigned long)q) / 4; }

void swap_both(unsigned *a, unsigned *b) {
    unsigned first = a[0], second = a[1];
    a[0] = b[0];
    a[1] = b[1];
    b[0] = first;
    b[1] = second;
}
void swap_both_rewrite(unsigned *a, unsigned *b) {
    a[0] ^= b[0];
    b[0] ^= a[0];
    a[0] ^= b[0];
    a[1] ^= b[1];
    b[1] ^= a[1];
    a[1] ^= b[1];
}
