/* Static variables that something of the file writes, or may let others write. */

static int set_later[] = {0, 2, 3, 5};
int entry_set(int i) { return set_later[i & 3]; }
void set(int i, int v) { set_later[i & 3] = v; }

static int given[] = {0, 2, 3, 5};
int entry_given(int i) { return given[i & 3]; }
int *give(void) { return given; }

static int pointed[] = {0, 2, 3, 5};
int entry_pointed(int i) { return pointed[i & 3]; }
int *pointer = pointed + 1;

static int filled[] = {0, 2, 3, 5};
int entry_filled(int i) { return filled[i & 3]; }
void fill(int *, int);
void start(void) { fill(filled, 4); }

static int chosen[] = {0, 2, 3, 5};
int entry_chosen(int i) { return chosen[i & 3]; }
void choose(int k, int v) {
    int *places[2] = {chosen, chosen + 2};
    *places[k & 1] = v;
}

static const int fixed[] = {0, 2, 3, 5};
int entry_fixed(int i) { return fixed[i & 3]; }

static int on_stack[] = {0, 2, 3, 5};
int entry_on_stack(int i) { return on_stack[i & 3]; }
void take(long, long, long, long, long, long, int *, ...);
void pass_on_stack(void) { take(1, 2, 3, 4, 5, 6, on_stack); }

static int seventh[] = {0, 2, 3, 5};
int entry_seventh(int i) { return seventh[i & 3]; }
int use(long, long, long, long, long, long, int *);
int pass_seventh(int i) {
    int *place = seventh;
    i += 1;
    return use(i, i, i, i, i, i, place) + use(1, 2, 3, 4, 5, i, place);
}

static int unprototyped[] = {0, 2, 3, 5};
int entry_unprototyped(int i) { return unprototyped[i & 3]; }
int any();
int pass_to_any(int i) { return any(i, i, i, i, i, i, unprototyped); }

static int jumped[] = {0, 2, 3, 5};
int entry_jumped(int i) { return jumped[i & 3]; }
int _setjmp(void *);
extern long place_to_jump_to[64];
void jump(int);
void come_back(int i) {
    int *volatile place = 0;
    if (_setjmp(place_to_jump_to)) {
        *place = 7;
    } else {
        place = jumped;
        jump(i + 1);
    }
}

static int held[] = {0, 2, 3, 5};
int entry_held(int i) { return held[i & 3]; }
int count(long, long, long, long, long, long, int);
int sum_held(int i) {
    int *place = held;
    int sum = count(i, 2, 3, 4, 5, 6, 7);
    return sum + *place;
}
