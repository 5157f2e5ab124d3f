/* Calls through pointers: the declared type of the pointer tells what is passed; leftovers in other registers are not. */
#include <stddef.h>
struct ops { int number; int (*call)(int, long); void (*done)(void); };
extern int (*handler)(int, float);
int callback(int x, int y, int z, int (*p)(int, int)) { return p(x, y) + z; }
int callback_same(int x, int y, int z, int (*p)(int, int)) { int t = 3 * z; return p(x, y) + t - 2 * z; }
int callback_other(int x, int y, int z, int (*p)(int, int)) { return p(x, y + 1) + z; }
int member(struct ops *o, int x, int y, int z) { o->done(); return o->call(x + z, y); }
int member_same(struct ops *o, int x, int y, int z) { int t = z + x; o->done(); return o->call(t, y); }
int member_other(struct ops *o, int x, int y, int z) { o->done(); return o->call(x - z, y); }
int variable(int x, int y, int z) { return handler(x, 2.0f) + y + z; }
int variable_same(int x, int y, int z) { int t = 2 * y + z; return handler(x, 2.0f) + t - y; }
int variable_other(int x, int y, int z) { return handler(x, 3.0f) + y + z; }
_Bool truth(_Bool (*p)(void)) { return p(); }
_Bool truth_same(_Bool (*p)(void)) { return p() ? 1 : 0; }
_Bool truth_other(_Bool (*p)(void)) { return !p(); }
int fewer(int x, int (*p)(int)) { return p(x); }
int more(int x, int (*p)(int, int)) { return p(x, 3); }
/* musl's */
void *search(const void *key, const void *base, size_t nel, size_t width, int (*cmp)(const void *, const void *)) {
    void *try;
    int sign;
    while (nel > 0) {
        try = (char *)base + width * (nel / 2);
        sign = cmp(key, try);
        if (sign < 0) {
            nel /= 2;
        } else if (sign > 0) {
            base = (char *)try + width;
            nel -= nel / 2 + 1;
        } else {
            return try;
        }
    }
    return NULL;
}
