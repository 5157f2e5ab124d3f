static int plain(int a) { return a; }
int through(int a) { return plain(a); }
