extern int fewer(int, int);
extern int wider(long);
extern double kind(double);
int more(int x, int y) { return fewer(x, 2 * y - y + 1); }
int width(int x) { return wider(x); }
int floats(float x) { return kind(x) > 1; }
