#include <string.h>
#ifndef K
#define K 3
#endif
int data[4] = {1, 2, K, 4};
static const int constants[4] = {1, 2, K, 4};
char text[8] = {'a', 'b', K, 0};

void some(int *to, unsigned n) { if (n <= sizeof data) memmove(to, data, n); }
void part(int *to, unsigned n) { if (n <= sizeof constants) memmove(to, constants, n); }
unsigned long length(void) { return strlen(text); }
