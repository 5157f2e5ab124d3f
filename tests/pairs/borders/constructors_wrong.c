int value;
int reads(void) { return value + 1; }
