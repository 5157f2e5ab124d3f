/* Bits of a structure that belong to no bit-field. */
struct fields {
    int low : 14;
    float numbers[3];
    double wide;
};

void copy(struct fields *to, struct fields from) { *to = from; }

void members(struct fields *to, struct fields from) {
    to->low = from.low;
    for (int i = 0; i < 3; i++) to->numbers[i] = from.numbers[i];
    to->wide = from.wide;
}

void wrong_bit(struct fields *to, struct fields from) {
    members(to, from);
    to->low ^= 0x2000;
}

struct flags {
    _Bool set;
    unsigned rest : 14;
    unsigned more : 27;
};

void take(struct flags);

void pass(struct flags flags) { take(flags); }

void pass_members(struct flags flags) {
    struct flags copy;
    copy.more = flags.more;
    copy.rest = flags.rest;
    copy.set = flags.set;
    take(copy);
}

void pass_inverted(struct flags flags) {
    flags.set = !flags.set;
    take(flags);
}
