/* Addresses that are not in the object that they are meant for. */
#ifndef OTHER
#define OTHER 1
#endif
typedef int (*function)(int);
struct node { struct node *next; function action; };

static int special(int x) { return x == 123456 ? OTHER : x * 2; }
int variables[300] = {[17] = OTHER};
static const int constants[300] = {[17] = OTHER};
static const function functions[100] = {[99] = special};
static struct node last = {0, special};
struct node first = {&last, 0};
const int numbers[4] = {1, 2, 3, OTHER};
int changed[4] = {1, 2, 3, OTHER};
static __thread int threads[300] = {[17] = OTHER};

void give(const void *);
static int look(long i) { return constants[i - 1000]; }

int variable(long i) { return variables[i - 1000]; }
function chosen(long i) { return functions[i - 1000]; }
void registered(void) { give(look); }
const int *place(long i) { return &constants[i - 1000]; }
struct node *list(void) { return &first; }
struct node *rest(void) { return first.next; }
const int *end(void) { return numbers + 4; }
int *changed_end(void) { return changed + 4; }
int thread(long i) { return threads[i - 1000]; }
void set_thread(int x) { threads[17] = x; }
