# A switch through a table of distances. Nothing but the sum of an entry and the table's address is a number that a linker
# does not decide.
        .intel_syntax noprefix
        .macro  switch name, use, leave
        .globl  \name
\name:
        and     edi, 3
        lea     rdx, table_\name[rip]
        movsxd  rax, DWORD PTR [rdx + 4 * rdi]
        \use
        add     rax, rdx
        jmp     rax
1:      \leave
        ret
2:      \leave
        ret
3:      \leave
        add     eax, 5
        ret
4:      \leave
        ret
        .section .rodata
        .balign 4
table_\name:
        .long   1b - table_\name, 2b - table_\name, 3b - table_\name, 4b - table_\name
        .text
        .endm

        switch  plain, "nop", "mov eax, 1"
        switch  plain_too, "mov [rsp - 16], rdx; mov rdx, [rsp - 16]", "xor eax, eax; inc eax"
        switch  plain_other, "nop", "mov eax, 2"
        switch  sign, "mov rcx, rax; shr rcx, 63", "mov eax, ecx"
        switch  entry, "mov rcx, rax", "mov eax, ecx"
        switch  below, "test rax, rax; setl cl", "movzx eax, cl"
        switch  high, "mov rcx, rdx; shr rcx, 31; inc ecx", "mov eax, ecx"
        switch  kept, "mov [rsp - 16], rax", "mov eax, [rsp - 16]; shr eax, 31"
        switch  stored, "mov [rsi], eax", "mov eax, 1"
        switch  after, "nop", "mov eax, edx; shr eax, 31"
        switch  carried, "nop", "setc al; movzx eax, al"
        .section .note.GNU-stack
