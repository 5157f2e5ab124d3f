// A variable, or a constant, that holds other numbers at first in the two builds, and a pointer to it.
#ifndef KIND
#define KIND
#endif
KIND int level = FIRST;
KIND int *where = &level;
int last;

KIND int *sets(int to) {
    *(int *)&level = to;
    return where;
}

int reads(int to) {
    last = to;
    return *where;
}
