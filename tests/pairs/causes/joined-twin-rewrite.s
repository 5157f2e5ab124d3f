# the same, and the other branch is wrong, too
    .intel_syntax noprefix
    .globl f
f:
    mov eax, 78
    lea ecx, [rsi+1]
    cmp edi, 3
    cmovne eax, ecx
    add eax, 10
    ret
