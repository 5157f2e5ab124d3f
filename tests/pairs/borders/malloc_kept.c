/* The address of malloc is kept in a register over several calls. */
void *malloc(unsigned long);
void free(void *);
int *twice(int x) {
    int *p = malloc(4);
    *p = x;
    int r = *p;
    free(p);
    p = malloc(8);
    p[0] = r;
    p[1] = 2;
    return p;
}
int *twice_three(int x) {
    int *p = malloc(4);
    *p = x;
    int r = *p;
    free(p);
    p = malloc(8);
    p[0] = r;
    p[1] = 3;
    return p;
}
