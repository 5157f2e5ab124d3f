        .intel_syntax noprefix
        .text
        .globl by_return
        .type by_return, @function
by_return:
        push rdi
        ret
        .size by_return, . - by_return
        .globl by_jump
        .type by_jump, @function
by_jump:
        jmp rdi
        .size by_jump, . - by_jump
        .section .note.GNU-stack, "", @progbits
