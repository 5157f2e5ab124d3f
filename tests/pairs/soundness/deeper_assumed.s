# What is assumed at entry must hold at the deeper call, which is made only if the second argument is 123456789.
.intel_syntax noprefix
.macro deeper name, before, base
.globl \name
.type \name, @function
\name:
    cmp esi, 123456789
    jne 1f
    push rbx
    \before
    mov esi, 1
    call \name
    pop rbx
    ret
1:  \base
.size \name, .-\name
.endm

# A bool behind a pointer: all of its bits, or whether it is nonzero.
deeper two_all_bits, "mov byte ptr [rdi], 2", "movzx eax, byte ptr [rdi]; ret"
deeper two_nonzero, "mov byte ptr [rdi], 2", "xor eax, eax; cmp byte ptr [rdi], 0; setne al; ret"
deeper one_all_bits, "mov byte ptr [rdi], 1", "movzx eax, byte ptr [rdi]; ret"
deeper one_nonzero, "mov byte ptr [rdi], 1", "xor eax, eax; cmp byte ptr [rdi], 0; setne al; ret"
deeper one_zero, "mov byte ptr [rdi], 1", "xor eax, eax; cmp byte ptr [rdi], 0; sete al; ret"

# A node of a list begins with a bool, and the deeper call is given the next node: nothing is known of its bool.
deeper next_moved, "mov rdi, [rdi+8]", "movzx eax, byte ptr [rdi]; ret"
deeper next_added, "add rdi, 8; mov rdi, [rdi]", "xor eax, eax; mov al, [rdi]; ret"
deeper next_other, "mov rdi, [rdi+8]", "movzx eax, byte ptr [rdi]; inc eax; ret"

# The function that is jumped to may take more than the lower half of rsi.
.macro through name, before, after=
.globl \name
.type \name, @function
\name:
    cmp esi, 123456789
    jne 1f
    push rbx
    \before
    call \name
    pop rbx
    ret
1:  \after
    jmp [rdi]
.size \name, .-\name
.endm

through through_0, "mov esi, 1"
through through_1, "movabs rsi, 0x100000001"
through through_pushed, "push 1; pop rsi"
through through_other, "mov esi, 1", "inc rsi"
.section .note.GNU-stack,"",@progbits
