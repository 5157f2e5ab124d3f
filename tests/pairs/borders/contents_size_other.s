# A constant that a linker fills with the size of x, by a relocation that isoform has no rule for.
        .text
        .globl  second_byte
        .type   second_byte, @function
second_byte:
        movzbl  constant+1(%rip), %eax
        ret
        .size   second_byte, .-second_byte
        .section .rodata
        .globl  constant
        .type   constant, @object
        .balign 8
constant:
        .quad   x@SIZE
        .size   constant, 8
        .bss
        .globl  x
        .type   x, @object
x:      .zero   0x5634
        .size   x, 0x5634
