        .intel_syntax noprefix
        .text
        .globl ends
        .type ends, @function
ends:   mov eax, 60
        syscall
        ud2
        .size ends, . - ends
        .globl ends_next
        .type ends_next, @function
ends_next:
        inc edi
        mov eax, 60
        syscall
        ud2
        .size ends_next, . - ends_next
        .section .note.GNU-stack, "", @progbits
