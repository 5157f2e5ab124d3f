extern const int k; int reads(void) { return k; }
