__attribute__((noipa, noinline)) int scale(int x) { return x * 1000; }
int scaled(int x) { return scale(x) + 1; }
int scaled_more(int x) { return scale(x) + 2; }
