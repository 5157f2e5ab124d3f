/* A large table with pointers at odd addresses. */
#ifndef OTHER
#define OTHER 1
#endif
typedef int (*function)(int);
struct __attribute__((packed)) entry { char kind; function action; };

static int special(int x) { return x == 123456 ? OTHER : x * 2; }
static const struct entry packed[8000] = {[7001] = {1, special}};

void table(void (*receiver)(const void *)) { receiver(packed); }
