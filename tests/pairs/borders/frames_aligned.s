        .intel_syntax noprefix
# At entry the stack pointer is 8 more than a multiple of 16.
        .globl aligned
        .type aligned, @function
aligned:
        movaps xmmword ptr [rsp - 24], xmm0
        mov rax, qword ptr [rsp - 24]
        ret
        .size aligned, .-aligned
        .globl any_address
        .type any_address, @function
any_address:
        movups xmmword ptr [rsp - 16], xmm0
        mov rax, qword ptr [rsp - 16]
        ret
        .size any_address, .-any_address
        .globl other_half
        .type other_half, @function
other_half:
        movups xmmword ptr [rsp - 16], xmm0
        mov rax, qword ptr [rsp - 8]
        ret
        .size other_half, .-other_half
        .globl misaligned
        .type misaligned, @function
misaligned:
        movaps xmmword ptr [rsp - 16], xmm0
        mov rax, qword ptr [rsp - 16]
        ret
        .size misaligned, .-misaligned
        .globl misaligned_unused
        .type misaligned_unused, @function
misaligned_unused:
        movaps xmm5, xmmword ptr [rsp - 16]
        movq rax, xmm0
        ret
        .size misaligned_unused, .-misaligned_unused
        .globl misaligned_operand
        .type misaligned_operand, @function
misaligned_operand:
        movups xmmword ptr [rsp - 16], xmm0
        paddd xmm0, xmmword ptr [rsp - 16]
        movq rax, xmm0
        ret
        .size misaligned_operand, .-misaligned_operand
        .globl twice_aligned
        .type twice_aligned, @function
twice_aligned:
        movups xmmword ptr [rsp - 24], xmm0
        paddd xmm0, xmmword ptr [rsp - 24]
        movq rax, xmm0
        ret
        .size twice_aligned, .-twice_aligned
        .globl twice_any_address
        .type twice_any_address, @function
twice_any_address:
        movups xmmword ptr [rsp - 16], xmm0
        vpaddd xmm0, xmm0, xmmword ptr [rsp - 16]
        movq rax, xmm0
        ret
        .size twice_any_address, .-twice_any_address
        .globl once
        .type once, @function
once:
        movq rax, xmm0
        ret
        .size once, .-once
        .globl misaligned_three
        .type misaligned_three, @function
misaligned_three:
        mov eax, 3
        movaps xmmword ptr [rsp - 16], xmm0
        ret
        .size misaligned_three, .-misaligned_three
        .globl calls_aligned
        .type calls_aligned, @function
calls_aligned:
        sub rsp, 8
        call aligned
        add rsp, 8
        ret
        .size calls_aligned, .-calls_aligned
        .globl calls_misaligned
        .type calls_misaligned, @function
calls_misaligned:
        call aligned
        ret
        .size calls_misaligned, .-calls_misaligned
        .globl realigned
        .type realigned, @function
realigned:
        push rbp
        mov rbp, rsp
        and rsp, -32
        movaps xmmword ptr [rsp - 24], xmm0
        mov rax, qword ptr [rsp - 24]
        leave
        ret
        .size realigned, .-realigned
        .section .note.GNU-stack,"",@progbits
