/* memcpy of blocks that overlap is undefined, and compilers make other code of it. */
#include <string.h>

void copies(char *to, const char *from) { memcpy(to, from, 13); }

void copies_less(char *to, const char *from) { memcpy(to, from, 12); }
