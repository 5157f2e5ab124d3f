# The seventh argument, which is on the stack and of 8 bits.
.intel_syntax noprefix
.macro function name
.globl \name
.type \name, @function
\name:
.endm

function as_byte
    movzx eax, byte ptr [rsp+8]
    ret
.size as_byte, .-as_byte

function as_word
    mov eax, [rsp+8]
    ret
.size as_word, .-as_word

function long_word
    mov rax, [rsp+8]
    ret
.size long_word, .-long_word

function sign
    movsx eax, byte ptr [rsp+8]
    ret
.size sign, .-sign

function bool_word
    mov eax, [rsp+8]
    and eax, 1
    ret
.size bool_word, .-bool_word
.section .note.GNU-stack,"",@progbits
