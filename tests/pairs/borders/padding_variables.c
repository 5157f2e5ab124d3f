/* clang clears the padding of structures that are stored whole; gcc leaves it alone. */
struct padded {
    char small;
    long wide;
    long more[2];
} kept;

void keeps(long x) { kept = (struct padded){x, x, {x, x}}; }
void keeps_wrong(long x) { kept = (struct padded){x, x + 1, {x, x}}; }

struct padded makes(long x) {
    struct padded made = {x, x, {x, x}};
    return made;
}
struct padded makes_wrong(long x) {
    struct padded made = {x + 1, x, {x, x}};
    return made;
}

void stores(struct padded **where, long x) { **where = (struct padded){x, x, {x, x}}; }
void stores_wrong(struct padded **where, long x) { **where = (struct padded){x, x, {x, x + 1}}; }
