/* Of what memcmp gives only the sign is fixed. */
#include <string.h>
int order(char *s, char *t) { return memcmp(s, t, 4); }
int order_turned(char *s, char *t) { return memcmp(t, s, 4); }
int below(char *s, char *t) { return memcmp(s, t, 4) < 0; }
int below_again(char *s, char *t) { return !(memcmp(s, t, 4) >= 0); }
int not_above(char *s, char *t) { return memcmp(s, t, 4) <= 0; }
