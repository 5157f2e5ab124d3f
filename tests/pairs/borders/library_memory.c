/* Memory from the library. */
#include <stdlib.h>
#include <string.h>

struct node { int value; struct node *next; };

struct node *push_a(int v, struct node *h) { struct node *p = malloc(sizeof *p); if (!p) return 0; p->value = v; p->next = h; return p; }
struct node *push_c(int v, struct node *h) { struct node *p = malloc(sizeof *p); if (!p) return h; p->value = v; p->next = h; return p; }

int late_a(int *p, int **o) { int v = *p; int *q = malloc(4); if (!q) return 0; *q = 1; *o = q; return v; }
int late_b(int *p, int **o) { int *q = malloc(4); if (!q) return 0; *q = 1; int v = *p; *o = q; return v; }
int late_c(int *p, int **o) { int *q = malloc(4); if (!q) return 0; *q = 1; *o = q; return *p; }

void *zeros_a(void) { void *p = malloc(16); if (p) memset(p, 0, 16); return p; }
void *zeros_b(void) { return calloc(1, 16); }
void *zeros_c(void) { void *p = malloc(16); if (p) memset(p, 0, 15); return p; }

int scratch(int a) { int *t = malloc(8); if (!t) return -1; t[0] = a; t[1] = 2 * a; int r = t[0] + t[1]; free(t); return r; }
int scratch_c(int a) { int *t = malloc(8); if (!t) return -1; t[0] = a; t[1] = a; int r = t[0] + t[1]; free(t); return r; }

void order_a(void *a, void *b) { free(a); free(b); }
void order_b(void *a, void *b) { free(b); free(a); }
