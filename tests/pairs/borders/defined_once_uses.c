int scale(int);
int scaled(int x) { return scale(x) + 1; }
