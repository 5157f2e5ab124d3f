#include <stdlib.h>
void one(int *p) { *p = 1; exit(0); }
void still_one(int *p) { *p = 3 - 2; exit(0); }
void two(int *p) { *p = 2; exit(0); }
void quick_one(int *p) { *p = 1; abort(); }
void quick_two(int *p) { *p = 2; abort(); }
