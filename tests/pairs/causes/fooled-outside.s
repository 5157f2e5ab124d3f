# int f(int *p, int x): the address must not become null
    .intel_syntax noprefix
    .globl f, g
f:
    xor edx, edx
    test esi, esi
    cmove rdx, rdi
    mov eax, [rdi]
    ret
g:
    mov rcx, rdi
    mov eax, [rcx]
    test esi, esi
    je 1f
    inc eax
1:  ret
