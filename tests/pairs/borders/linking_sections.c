/* A table that a linker puts together from what files leave in a section. */
#ifndef K
#define K 1
#endif
static int entry __attribute__((section("entries"), used)) = K;
extern int __start_entries[];
int *starts(void) { return __start_entries; }
int first(void) { return __start_entries[0]; }
