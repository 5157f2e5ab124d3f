/* What a pointer in data leads to at first, through objects of other names. */
struct operations {
    int (*run)(int);
    const char *name;
};

static int step(int x) { return x + STEP; }

#ifdef OTHER
static const struct operations second = {step, "step"};
const struct operations *current = &second;
#else
static const struct operations first = {step, "step"};
const struct operations *current = &first;
#endif

int runs(int x) { return current->run(x); }

static const char text[4] = {97, 98, 0, TAIL};
const char *place = text;

int tail(void) { return place[3]; }
