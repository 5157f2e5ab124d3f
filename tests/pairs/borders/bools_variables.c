/* Variables that hold a bool: 0 or 1, whatever else was put there. */
#include <stdbool.h>

bool flag;
struct settings {
    int level;
    bool enabled, verbose;
} settings;
bool table[8];

int chosen(void) { return flag ? 3 : 4; }
int chosen_wrong(void) { return flag ? 3 : 5; }

int enabled(int x) { return settings.enabled ? x + 1 : x + 3; }
int enabled_wrong(int x) { return settings.verbose ? x + 1 : x + 3; }

int listed(int i) { return table[i & 7] ? 2 : 1; }
int listed_wrong(int i) { return table[i & 3] ? 2 : 1; }
