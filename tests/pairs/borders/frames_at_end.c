/* A local is given to a function that does not return, and that may read it. */
struct note { int code, line; };
struct note *last;
_Noreturn void fatal(struct note *);
_Noreturn void stop(void);

int passed_1(int x) {
    struct note note = {x, 1};
    if (x > 5)
        fatal(&note);
    return x;
}

int passed_2(int x) {
    struct note note = {x, 2};
    if (x > 5)
        fatal(&note);
    return x;
}

int stored_1(int x) {
    struct note note = {x, 1};
    last = &note;
    if (x > 5)
        stop();
    last = 0;
    return x;
}

int stored_2(int x) {
    struct note note = {x, 2};
    last = &note;
    if (x > 5)
        stop();
    last = 0;
    return x;
}
