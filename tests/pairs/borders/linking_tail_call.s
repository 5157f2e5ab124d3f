# A tail call as compilers make it with -fno-plt, and as they make it without.
    .text
    .globl by_slot, by_name, by_slot_more
    .type by_slot, @function
by_slot:
    addl $1, %edi
    jmp *g@GOTPCREL(%rip)
    .size by_slot, .-by_slot
    .type by_name, @function
by_name:
    leal 1(%rdi), %edi
    jmp g@PLT
    .size by_name, .-by_name
    .type by_slot_more, @function
by_slot_more:
    addl $2, %edi
    jmp *g@GOTPCREL(%rip)
    .size by_slot_more, .-by_slot_more
