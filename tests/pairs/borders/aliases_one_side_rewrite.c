int same(void) { return RESULT; }
