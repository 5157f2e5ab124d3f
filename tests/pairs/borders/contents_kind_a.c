int either(int x) { return x; }
void *address(void) { return either; }
