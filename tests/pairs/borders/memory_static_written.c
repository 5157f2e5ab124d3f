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
