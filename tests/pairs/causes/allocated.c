void *malloc(unsigned long);
int *filled(int x) { int *p = malloc(8); if (!p) return 0; p[0] = x; p[1] = 3; return p; }
int *filled_otherwise(int x) { int *p = malloc(8); if (!p) return 0; p[0] = x; p[1] = 4; return p; }
