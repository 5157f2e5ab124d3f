# int f(int a, unsigned flags): 0x55 is added where bit 5 is set
    .intel_syntax noprefix
    .globl f
f:
    lea eax, [rdi+0x55]
    test esi, 0x20
    cmove eax, edi
    ret
