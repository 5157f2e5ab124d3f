const int k = 5; int reads(void) { return k; } int reads_more(void) { return k + 1; }
