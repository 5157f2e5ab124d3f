# Functions of one pointer that use the caller's stack, above their return address.
.intel_syntax noprefix
.macro function name
.globl \name
.type \name, @function
\name:
.endm

function load_first
    mov eax, [rsp+8]
    mov dword ptr [rdi], 1
    ret
.size load_first, .-load_first

function load_kept
    mov rcx, [rsp+8]
    mov dword ptr [rdi], 1
    mov eax, ecx
    ret
.size load_kept, .-load_kept

function load_last
    mov dword ptr [rdi], 1
    mov eax, [rsp+8]
    ret
.size load_last, .-load_last

function store_first
    mov dword ptr [rsp+8], 1
    mov dword ptr [rdi], 2
    ret
.size store_first, .-store_first

function store_halves
    mov word ptr [rsp+8], 1
    mov word ptr [rsp+10], 0
    mov dword ptr [rdi], 2
    ret
.size store_halves, .-store_halves

function store_last
    mov dword ptr [rdi], 2
    mov dword ptr [rsp+8], 1
    ret
.size store_last, .-store_last

# Half of what it stores is the return address, which the other half gives back.
function store_across
    mov rax, [rsp]
    movq xmm0, rax
    mov eax, 1
    movq xmm1, rax
    punpcklqdq xmm0, xmm1
    movups [rsp], xmm0
    ret
.size store_across, .-store_across

function store_above
    mov qword ptr [rsp+8], 1
    ret
.size store_above, .-store_above
.section .note.GNU-stack,"",@progbits
