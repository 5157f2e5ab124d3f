/* The two files declare what they call differently. */
extern int fewer(int);
extern int wider(int);
extern float kind(float);
int more(int x, int y) { (void)y; return fewer(x); }
int width(int x) { return wider(x); }
int floats(float x) { return kind(x) > 1; }
