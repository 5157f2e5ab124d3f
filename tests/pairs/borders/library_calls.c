/* Outside calls are what both must make alike. */
#include <stdio.h>

int draw(void);
int fill(int *p);
void tell(int x);

void hit_a(int x, int y) { if (x * 31 == y * 17 + 7) printf("hit"); }
void hit_b(int x, int y) { if (31 * x - 7 == 17 * y) printf("hit"); }
void hit_c(int x, int y) { if (x * 31 == y * 17 + 8) printf("hit"); }

int drawn_a(void) { int a = draw(), b = draw(); return a - b == 5; }
int drawn_b(void) { int a = draw(), b = draw(); return a == b + 5; }
int drawn_c(void) { int a = draw(), b = draw(); return a == b + 6; }

int filled_a(int *p) { fill(p); return p[0] == 77777; }
int filled_b(int *p) { fill(p); return !(p[0] - 77777); }
int filled_c(int *p) { fill(p); return p[0] == 77778; }

void seen_a(int *p) { *p = 1; tell(0); *p = 2; }
void seen_c(int *p) { tell(0); *p = 2; }

void text_a(int x) { if (x > 3) printf("big\n"); else printf("small %d%%\n", 4); }
void text_b(int x) { if (x > 3) puts("big"); else puts("small 4%"); }
void text_c(int x) { if (x > 3) puts("big"); else puts("small 5%"); }

void order_a(int x) { tell(x); tell(2); }
void order_c(int x) { tell(2); tell(x); }
