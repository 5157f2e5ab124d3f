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
