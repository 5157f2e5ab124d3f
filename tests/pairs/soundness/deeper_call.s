# Functions that call themselves with another stack pointer or direction flag than they were called with.
.intel_syntax noprefix
.macro function name
.globl \name
.type \name, @function
\name:
.endm

# Copies edx bytes from rsi to rdi.
function copy
    test edx, edx
    je 1f
    movsb
    dec edx
    push rax
    call copy
    pop rcx
1:  ret
.size copy, .-copy

function copy_deeper
    test edx, edx
    je 1f
    movsb
    dec edx
    sub rsp, 24
    call copy_deeper
    add rsp, 24
1:  ret
.size copy_deeper, .-copy_deeper

function copy_backwards
    test edx, edx
    je 1f
    movsb
    dec edx
    push rax
    std
    call copy_backwards
    cld
    pop rcx
1:  ret
.size copy_backwards, .-copy_backwards

# Returns how its stack is aligned.
function aligned
    cmp edi, 1
    ja 1f
    lea rax, [rsp+8]
    and eax, 15
    ret
1:  push rcx
    mov edi, 1
    call aligned
    pop rcx
    ret
.size aligned, .-aligned

function aligned_otherwise
    cmp edi, 1
    ja 1f
    lea rax, [rsp+8]
    and eax, 15
    ret
1:  mov edi, 1
    call aligned_otherwise
    ret
.size aligned_otherwise, .-aligned_otherwise
.section .note.GNU-stack,"",@progbits
