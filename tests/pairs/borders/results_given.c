/* A structure that a callee returns in memory goes to a local, or straight to where it is wanted. */
struct large {
    long values[6];
};

struct large make(int);

struct large direct(int x) { return make(x); }

struct large copied(int x) {
    struct large made = make(x);
    volatile long kept = made.values[0];
    made.values[0] = kept;
    return made;
}

struct large changed(int x) {
    struct large made = make(x);
    made.values[0] ^= 1;
    return made;
}
