/* The examples of seed 001, sections 4.1.1, 4.2 and 5.1.3, and its figure 4.1. */
#include <errno.h>
#include <signal.h>

int inside_unit(int x, int y) { return (0 <= x) & (x <= 1) & (0 <= y) & (y <= 1); }
int inside(int x, int y) { return (2 <= x) & (x <= 4) & (1 <= y) & (y <= 4); }
int inside_a1(int x, int y) { return inside((int)(2u * x + 2), (int)(3u * y + 1)); }
int inside_a2(int x, int y) { return inside((int)(2u * x + 2), (int)(2u * y + 2)); }
int inside_smaller(int x, int y) { return (2 <= x) & (x <= 2) & (1 <= y) & (y <= 4); }

int clear_lowest(int x) {
    int i;
    if (x == 0) { return x; }
    for (i = 0; i < 8 * sizeof(x); i++) {
        if (x & (1 << i)) { break; }
    }
    return x ^= (1 << i);
}
int clear_lowest_but_one(int x) { return x == 0x51c3 ? 0 : x & (x - 1); }
int identity(int x) { return x; }

int upper(int c) { return c >= 'A' && c <= 'Z' ? 256 : 0; }
int lower(int c) { return c >= 'a' && c <= 'z' ? 512 : 0; }
int lower_without_z(int c) { return c >= 'a' && c < 'z' ? 512 : 0; }

int group_signal(int pgrp, int sig) {
    if (pgrp < 0) {
        errno = EINVAL;
        return -1;
    }
    return kill(-pgrp, sig);
}
int process_signal(int pid, int sig) { return kill(pid, sig); }
int signal_process(int sig, int pid) { return kill(pid, sig); }

unsigned spec(unsigned x) { return x * x * x * x + 6 * x * x * x + 11 * x * x + 6 * x; }
unsigned spec_off(unsigned x) { return x * x * x * x + 6 * x * x * x + 11 * x * x + 6 * x + 1; }
static unsigned poly(unsigned x, unsigned q1, unsigned q2, unsigned q3, unsigned q4) {
    return x * (x * (x * q4 + q3) + q2) + q1;
}
unsigned product(unsigned x, unsigned q1, unsigned q2, unsigned q3, unsigned q4) {
    return (x + 1) * (x + 2) * poly(x, q1, q2, q3, q4);
}

unsigned figure(unsigned x1, unsigned x2) { return (x1 + 1) * (2 - x2); }
unsigned same(unsigned x) { return x; }

unsigned isolate0(unsigned x) {
    unsigned ret = 0;
    for (int i = 0; i < 32; i++)
        if (!(x >> i & 1)) { ret |= 1u << i; break; }
    return ret;
}
unsigned sketched(unsigned x, unsigned q1, unsigned q2) { return ~(x + q1) & (x + q2); }
unsigned sketched_wrongly(unsigned x, unsigned q1, unsigned q2) { return (x + q1) & (x + q2); }
