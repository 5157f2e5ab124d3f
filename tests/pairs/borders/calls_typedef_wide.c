/* The same spelling as in calls_typedef.c of another type. */

typedef long number;
void passed(void (*take)(number), long x) { take(x); }
