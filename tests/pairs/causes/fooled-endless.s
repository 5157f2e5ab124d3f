# int f(int x): the loop must not go on for ever
    .intel_syntax noprefix
    .globl f, g
f:
    mov ecx, 1
    mov eax, edi
    ret
g:
    mov ecx, 0
1:  test ecx, ecx
    jne 1b
    lea eax, [rdi+1]
    ret
