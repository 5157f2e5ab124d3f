# 500 branches, after each of which memory may have been written.
.intel_syntax noprefix
.macro branches name, jump
.globl \name
.type \name, @function
\name:
    xor eax, eax
.set n, 0
.rept 500
    cmp [rsi+4*n], edi
    \jump 1f
    add eax, [rdx+4*(n%7)]
    mov [rdx+4*(n%5)], edi
1:
.set n, n+1
.endr
    ret
.size \name, .-\name
.endm

branches lower, jle
branches above, jge
.section .note.GNU-stack,"",@progbits
