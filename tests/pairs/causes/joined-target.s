# int f(int x, int y): each branch has the sum in its constant
    .intel_syntax noprefix
    .globl f
f:
    cmp edi, 3
    je 1f
    lea eax, [rsi+10]
    ret
1:  mov eax, 87
    ret
