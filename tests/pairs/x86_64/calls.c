/* Calls to code that is not there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int first(int x);
int second(int x);
void touch(int *p);
long variable(long x, long y);

int call_both(int x, int y) {
    int a = first(x);
    int b = second(y);
    return a - b;
}
int call_both_rewrite(int x, int y) {
    int a = first(x);
    return -(second(y) - a);
}
int call_both_broken(int x, int y) {
    int b = second(y);
    int a = first(x);
    return a - b;
}

int call_argument(int x) { return first((int)(x + 1u)); }
int call_argument_rewrite(int x) { return first((int)(x - 4294967295u)); }
int call_argument_broken(int x) { return first((int)(x + 2u)); }

int call_name_broken(int x) { return second((int)(x + 1u)); }

int call_around(int *p) {
    *p = 3;
    touch(p);
    return *p;
}
int call_around_rewrite(int *p) {
    int three = 3;
    *p = three;
    touch(p);
    int after = *p;
    return after;
}
int call_around_broken(int *p) {
    *p = 4;
    touch(p);
    return *p;
}
int call_around_constant(int *p) {
    *p = 3;
    touch(p);
    return 3;
}

int call_local(int x) {
    int local = x;
    touch(&local);
    return local;
}
int call_local_broken(int x) {
    int local = x;
    touch(&local);
    return local + 1;
}

int call_once(int x) { return first(x) * 2; }
int call_twice(int x) { return first(x) + first(x); }

void say(void) { puts("hello"); }
void say_rewrite(void) { puts("hel" "lo"); }
void say_broken(void) { puts("hallo"); }

void print(int x) { printf("%d of %s\n", x, "many"); }
void print_broken(int x) { printf("%d of %s\n", x, "money"); }

int apply(int (*function)(int), int x) { return function(x); }
int apply_rewrite(int (*function)(int), int x) {
    int answer = function(x);
    return answer;
}
int apply_broken(int (*function)(int), int x) { return function(x + 1); }

static int plus_one(int x) { return (int)(x + 1u); }
static int plus_two(int x) { return (int)(x + 2u); }
static int (*const steps[2])(int) = {plus_one, plus_two};
int step(int which, int x) { return steps[which & 1](x); }
int step_rewrite(int which, int x) { return (int)(x + 1u + (which & 1)); }
int step_broken(int which, int x) { return (int)(x + 1u + (which & 3)); }

int guarded(const char *text) {
    char buffer[8];
    memcpy(buffer, text, 8);
    return buffer[0] + buffer[7];
}
int guarded_broken(const char *text) {
    char buffer[8];
    memcpy(buffer, text, 8);
    return buffer[0] + buffer[6];
}

int refuse(int x) {
    if (x < 0)
        abort();
    return x;
}
int refuse_rewrite(int x) {
    if (x >= 0)
        return x;
    abort();
}
int refuse_broken(int x) {
    if (x < 0)
        exit(1);
    return x;
}

__attribute__((noinline)) int present(int x) { return (int)(x + 1u); }
int call_present(int x) { return present(x); }
int call_present_rewrite(int x) { return present(-(-x)); }
int call_present_broken(int x) { return present(x) + 1; }
