/* Compilers put memset where there were stores, and stores where there was memset. */
void *memset(void *p, int byte, unsigned long count);
void clear(char *p) { memset(p, 0, 4); }
void clear_stores(char *p) { p[0] = p[1] = p[2] = p[3] = 0; }
void clear_three(char *p) { p[0] = p[1] = p[2] = 0; }
