# int f(int x): the frame is read before it is written
    .intel_syntax noprefix
    .globl f, g
f:
    mov ecx, [rsp-16]
    lea eax, [rdi+1]
    ret
g:
    mov ecx, 1
    lea eax, [rdi+rcx+1]
    ret
