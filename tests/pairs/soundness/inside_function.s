# Calls to an address that is inside a global function.
.intel_syntax noprefix
.macro function name
.globl \name
.type \name, @function
\name:
.endm

function one_or_three
    mov eax, 1
    mov eax, 3
    ret
.size one_or_three, .-one_or_three

function three
    mov eax, 3
    ret
.size three, .-three

function four
    mov eax, 4
    ret
.size four, .-four

function direct
    sub rsp, 8
    call one_or_three+5
    add rsp, 8
    ret
.size direct, .-direct

function computed
    sub rsp, 8
    lea rax, [rip + one_or_three + 5]
    call rax
    add rsp, 8
    ret
.size computed, .-computed

function chosen
    sub rsp, 8
    lea rax, [rip + one_or_three]
    and edi, 1
    lea rdi, [rdi + 4*rdi]
    add rax, rdi
    call rax
    add rsp, 8
    ret
.size chosen, .-chosen
# Returns 4 to the caller of its caller.
.type pop_and_four, @function
pop_and_four:
    add rsp, 8
    mov eax, 4
    ret
.size pop_and_four, .-pop_and_four

function popped
    call pop_and_four
    mov eax, 1
    ret
.size popped, .-popped
.section .note.GNU-stack,"",@progbits
