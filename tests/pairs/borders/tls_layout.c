#include <stdint.h>

#ifndef STEP
#define STEP 0
#endif
typedef uintptr_t word;

__thread int a, b;
__thread char c;
__thread int table[8];
extern __thread int outside;
extern __thread char letter;

static __attribute__((noinline)) word low(const void *p) { return (word)p & 63; }

int order(void) { return &a < &b; }
int order_is(void) { return 0; }
int turned(void) { return !(&a >= &b) ^ STEP; }

int beyond(void) { return (word)&c % 64; }
int through(void) { return low(&outside); }
int pointer(void) { return (word)__builtin_thread_pointer() % 4096; }
int distance(void) { return ((word)&c - (word)__builtin_thread_pointer()) % 64; }
int nothing(void) { return 0; }

int found(const char *p) { return p == &letter ? (word)p & 1 : 0; }
int found_even(const char *p) { return 0; }

word hash(void) { return ((word)&a ^ (word)&outside >> 3) * 0x9e3779b97f4a7c15 + (word)&c % 61; }
word hash_again(void)
{
    word one = (word)&a, other = (word)&outside / 8;
    return (one ^ other) * 0x9e3779b97f4a7c15 + (word)&c % 61 + STEP;
}

int apart(int *p)
{
    a = 1;
    b = 2;
    *p = 3;
    table[1] = 4;
    return &a == &b || &a == (void *)0 ? -1 : a + b;
}
int apart_again(int *p)
{
    a = 1;
    b = 2;
    *p = 3;
    table[1] = 4;
    if (((word)&a & 3) != 0)
        return 7;
    return b + STEP + (p >= table && p < table + 8 ? a : a);
}
