int either = 5;
void *address(void) { return &either; }
