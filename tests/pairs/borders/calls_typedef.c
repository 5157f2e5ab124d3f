/* A function called through a pointer whose type is spelled with a typedef. */

typedef int number;
void passed(void (*take)(number), long x) { take((int)x); }
void passed_on(void (*take)(number), long x) { number y = x; take(y); }
void passed_wrong(void (*take)(number), long x) { take((int)x + 1); }
