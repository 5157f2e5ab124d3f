# Results of which only zero or nonzero counts.
.intel_syntax noprefix
.macro function name
.globl \name
.type \name, @function
\name:
.endm

# A zero with the sign of the argument, and two others.
function signed_zero
    movabs rax, -0x8000000000000000
    movq xmm1, rax
    andpd xmm0, xmm1
    ret
.size signed_zero, .-signed_zero

function plain_zero
    xorpd xmm0, xmm0
    ret
.size plain_zero, .-plain_zero

function one
    mov eax, 0x3ff
    shl rax, 52
    movq xmm0, rax
    ret
.size one, .-one

function minus_zero
    mov eax, 1
    shl rax, 63
    movq xmm0, rax
    ret
.size minus_zero, .-minus_zero

# Both are zero as a char and nonzero as an int; as a short only the second is zero.
function second_byte
    movzx eax, dil
    and eax, 0
    add al, 0
    or eax, 0x100
    ret
.size second_byte, .-second_byte

function third_byte
    movzx eax, dil
    and eax, 0
    add al, 0
    or eax, 0x10000
    ret
.size third_byte, .-third_byte
.section .note.GNU-stack,"",@progbits
