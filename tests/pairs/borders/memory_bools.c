/* Memory that holds a bool. */
#include <stdbool.h>
bool opposite(bool *p) { return !*p; }
bool opposite_broken(bool *p) { return *p; }
struct flags { int count; bool set, seen; };
int counted(struct flags *p) { return p->set & !p->seen ? p->count : 0; }
int counted_broken(struct flags *p) { return p->set & p->seen ? p->count : 0; }
int many(bool *p, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += !p[i];
    return sum;
}
/* Bools that are reached in other ways. */
bool ready;
int waiting(void) { return !ready; }
int waiting_broken(void) { return ready; }
struct item { struct item *next; bool on; };
int after(struct item *p) { return p->next->on ? 1 : 0; }
int after_broken(struct item *p) { return p->next->on ? 2 : 0; }
int parity(unsigned char *p) { return *p & 1; }
int parity_broken(unsigned char *p) { return *p != 0; }
