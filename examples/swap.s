# Exchange two numbers in memory: through registers, and with three exclusive-ors.
# They differ when the two overlap, most simply when both pointers are the same.

        .text
        .globl  swap
        .type   swap, @function
swap:
        mov     (%rdi), %eax
        mov     (%rsi), %edx
        mov     %edx, (%rdi)
        mov     %eax, (%rsi)
        ret
        .size   swap, . - swap

        .globl  swap_xor
        .type   swap_xor, @function
swap_xor:
        mov     (%rdi), %eax
        xor     (%rsi), %eax
        mov     %eax, (%rdi)
        xor     (%rsi), %eax
        mov     %eax, (%rsi)
        xor     %eax, (%rdi)
        ret
        .size   swap_xor, . - swap_xor
        .section .note.GNU-stack, "", @progbits
