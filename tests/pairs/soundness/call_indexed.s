# An array on the stack is indexed, a copy of it is passed to printf (whose sixth number is its first element), and an element
# is returned. The copy is the callee's to change.
.intel_syntax noprefix
.macro printed name, after
.globl \name
.type \name, @function
\name:
    push rbx
    sub rsp, 16
    mov rbx, rdi
    and ebx, 1
    mov [rsp], rsi
    mov [rsp+8], rsi
    mov qword ptr [rsp+8*rbx], 5
    push [rsp+8]
    push [rsp+8]
    mov esi, 1
    mov edx, 2
    mov ecx, 3
    mov r8d, 4
    mov r9d, 5
    lea rdi, [rip + format]
    xor eax, eax
    call printf@PLT
    \after
    add rsp, 32
    pop rbx
    ret
.size \name, .-\name
.endm

printed own, "mov rax, [rsp+16+8*rbx]"
printed own_added, "lea rcx, [rsp+16]; mov rax, [rcx+8*rbx]"
printed own_other, "xor ebx, 1; mov rax, [rsp+16+8*rbx]"
printed passed, "mov rax, [rsp+8*rbx]"

.section .rodata
format:
    .string "%d %d %d %d %d %ld"
.section .note.GNU-stack,"",@progbits
