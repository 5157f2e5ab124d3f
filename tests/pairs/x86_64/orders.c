/* A small part of the inputs decides, in memory, behind arithmetic that solvers find hard. */
struct order {
    int kind, count, price;
    unsigned flags;
    int total, tax;
};
int note(int what, int value);

int settle(struct order *o, const int *rates) {
    int errors = 0;
    if (o->price > 100000)
        errors += note(2, o->price);
    o->total = o->count * o->price / 10;
    o->tax = o->total * rates[o->kind & 3] / 100 % 1000;
    return errors * o->total + o->tax;
}
int settle_rewrite(struct order *o, const int *rates) {
    int errors = o->price >= 100001 ? note(2, o->price) : 0;
    int total = o->count * o->price / 10;
    o->total = total;
    o->tax = total * rates[o->kind & 3] / 100 % 1000;
    return errors * o->total + o->tax;
}
int settle_broken(struct order *o, const int *rates) {
    int errors = 0;
    if (o->price > 10000)
        errors += note(2, o->price);
    o->total = o->count * o->price / 10;
    o->tax = o->total * rates[o->kind & 3] / 100 % 1000;
    return errors * o->total + o->tax;
}
