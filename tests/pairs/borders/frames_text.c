/* A callee leaves a text in a local, and how long that is decides what happens next. */
int sprintf(char *, const char *, ...);
unsigned long strcspn(const char *, const char *);
void use(int);
void measured(double x, int n, int *out) { char text[1500]; sprintf(text, "%.*f", n, x); *out = 1; use(strcspn(text, ".")); }
void measured_wrong(double x, int n, int *out) { char text[1500]; sprintf(text, "%.*f", n, x); *out = 2; use(strcspn(text, ".")); }
