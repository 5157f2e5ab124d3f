/* A variable in a section of the program's own, whose name begins like one that a loader knows. */
int values[4] __attribute__((section(SECTION))) = {1, 2, 3, 4};
void set(int i, int value) { values[i & 3] = value; }
int second(void) { return READ; }
