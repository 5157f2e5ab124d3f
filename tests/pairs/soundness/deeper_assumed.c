/* What is assumed at entry must hold at the deeper call, which is made only if k is 123456789. */
#include <stdbool.h>

bool flag;
int variable_all_bits(int k) {
    if (k != 123456789) return *(unsigned char *)&flag;
    *(char *)&flag = 2;
    return variable_all_bits(1) + 1;
}
int variable_nonzero(int k) {
    if (k != 123456789) return *(volatile unsigned char *)&flag != 0;
    *(char *)&flag = 2;
    return variable_nonzero(1) + 1;
}
int variable_kept(int k) {
    if (k != 123456789) return *(unsigned char *)&flag;
    return variable_kept(1) + 1;
}
int variable_kept_nonzero(int k) {
    if (k != 123456789) return *(volatile unsigned char *)&flag != 0;
    return variable_kept_nonzero(1) + 1;
}
int variable_kept_zero(int k) {
    if (k != 123456789) return *(volatile unsigned char *)&flag == 0;
    return variable_kept_zero(1) + 1;
}

/* The same functions, called with another type: a member that is a bool is 2. */
struct value { bool set; int n; };
int value_all_bits(struct value v, int k);
int value_nonzero(struct value v, int k);
int value_2_all_bits(unsigned long v, int k) __asm__("value_all_bits");
int value_2_nonzero(unsigned long v, int k) __asm__("value_nonzero");
int value_all_bits(struct value v, int k) {
    return k == 123456789 ? value_2_all_bits(2, 1) + 1 : *(unsigned char *)&v.set;
}
int value_nonzero(struct value v, int k) {
    return k == 123456789 ? value_2_nonzero(2, 1) + 1 : *(unsigned char *)&v.set != 0;
}
int value_kept(struct value v, int k) {
    return k == 123456789 ? value_kept(v, 1) + 1 : *(unsigned char *)&v.set;
}
int value_kept_nonzero(struct value v, int k) {
    return k == 123456789 ? value_kept_nonzero(v, 1) + 1 : *(unsigned char *)&v.set != 0;
}
int value_kept_zero(struct value v, int k) {
    return k == 123456789 ? value_kept_zero(v, 1) + 1 : *(unsigned char *)&v.set == 0;
}

/* The space for the result of the deeper call is what p points to. */
struct two { long a, b, c; };
void deeper_at_once(struct two *space, struct two *p, int k) __asm__("swapped_at_once");
void deeper_again(struct two *space, struct two *p, int k) __asm__("swapped_again");
void deeper_other(struct two *space, struct two *p, int k) __asm__("swapped_other");
struct two swapped_at_once(struct two *p, int k) {
    if (k == 123456789) deeper_at_once(p, p, 1);
    long a = p->a, b = p->b;
    return (struct two){b, a, 0};
}
__attribute__((naked)) struct two swapped_in_turn(struct two *p, int k) {
    __asm__("push %rbp; push %rbx; sub $8, %rsp; mov %rdi, %rbx; mov %rsi, %rbp; cmp $123456789, %edx; jne 1f;"
            "mov $1, %edx; mov %rsi, %rdi; call swapped_in_turn;"
            "1: mov 8(%rbp), %rax; mov %rax, (%rbx); mov (%rbp), %rax; mov %rax, 8(%rbx); movq $0, 16(%rbx);"
            "mov %rbx, %rax; add $8, %rsp; pop %rbx; pop %rbp; ret");
}
struct two swapped_again(struct two *p, int k) {
    if (k == 123456789) deeper_again(p, p, 1);
    long b = p->b, a = p->a;
    return (struct two){b, a, 0};
}
struct two swapped_other(struct two *p, int k) {
    if (k == 123456789) deeper_other(p, p, 1);
    long b = p->b, a = p->a;
    return (struct two){b, a, 1};
}
