int table[8] = {1, 2, 3, 4};
const int constants[8] = {1, 2, 3, 4};
__thread int own[8];
char buffer[4096];
long read(int, void *, unsigned long);
int indexed(int i) { return table[i & 7]; }
int *given(void) { return table; }
const int *given_constants(void) { return constants; }
int *given_own(void) { return own; }
long filled(void) { return read(0, buffer, 4096); }
int other(int i) { return i + 1; }
int other_wrong(int i) { return i + 2; }
