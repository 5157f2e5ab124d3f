/* The room of a long double is larger than its ten bytes, if it has the x87 format. */
struct pair {
    long double wide;
    int number;
};

void copies(struct pair *to, const struct pair *from) { *to = *from; }

void members(struct pair *to, const struct pair *from) {
    to->wide = from->wide;
    to->number = from->number;
}

void negates(struct pair *to, const struct pair *from) {
    to->wide = -from->wide;
    to->number = from->number;
}
