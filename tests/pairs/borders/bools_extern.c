/* clang does not describe variables of other files, and takes the lowest bit of a bool that it reads. */
#include <stdbool.h>
extern bool flag;
bool exchanged(bool value) { bool old = flag; flag = value; return old; }
bool exchanged_wrong(bool value) { bool old = flag; flag = !value; return old; }
