/* A definition without a prototype gets a float as a double. */
#ifndef K
#define K 1.0
#endif
extern int outside(float);
int old(x) float x; { return outside(x); }
int pass(void) { return old(K) + 1; }
