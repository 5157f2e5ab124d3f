/* What lies behind a structure, or before it, is none of its padding. */
struct header { int n; char c; };
struct flexible { int n; char c; int data[]; };
struct node { struct node *next; char c; };
struct outer { long a, b; struct node node; };

void payload(struct header *h, int x) { ((int *)(h + 1))[1] = x; }
void payload_again(struct header *h, int x) { int *q = (int *)(h + 1); q[1] = x ^ 0; }
void payload_wrong(struct header *h, int x) { ((int *)(h + 1))[1] = x ^ 1; }
void payload_cut(struct header *h, int x) { ((int *)(h + 1))[1] = x & 0xff; }
void data(struct flexible *p, int x) { p->data[1] = x; }
void data_cut(struct flexible *p, int x) { p->data[1] = x & 0xff; }
void around(struct node *p, long x) { ((struct outer *)((char *)p - 16))->b = x; }
void around_again(struct node *p, long x) { long *b = (long *)p - 1; *b = x; }
void around_cut(struct node *p, long x) { ((struct outer *)((char *)p - 16))->b = (unsigned char)x; }
