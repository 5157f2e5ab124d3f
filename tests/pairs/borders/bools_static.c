/* One compiler takes the lowest bit of a bool, another whether it is zero. */
#include <stdbool.h>
static char before = 1;
static bool state;
bool *place(void);
bool turned(void) { bool old = state; state = !state; return old; }
bool turned_wrong(void) { bool old = state; state = old; return old; }
int behind(void) { return *place() ? 4 : 5; }
int behind_wrong(void) { return *place() ? 5 : 4; }
char other(void) { return before++; }
