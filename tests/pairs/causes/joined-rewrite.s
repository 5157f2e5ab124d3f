# int f(int x, int y): 10 is added at the end, for both branches, and one of them has 78 instead of 77
    .intel_syntax noprefix
    .globl f
f:
    mov eax, 78
    cmp edi, 3
    cmovne eax, esi
    add eax, 10
    ret
