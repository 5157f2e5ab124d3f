# int f(int x): the divisor must not become zero
    .intel_syntax noprefix
    .globl f, g
f:
    xor ecx, ecx
    mov eax, edi
    ret
g:
    mov ecx, 1
    mov eax, edi
    cdq
    idiv ecx
    inc eax
    ret
