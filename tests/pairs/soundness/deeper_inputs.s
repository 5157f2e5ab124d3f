# Functions that find something at their deeper call that is no argument: a register, the upper half of one, the
# frame of their caller. Only with edi = 123456789 do they call themselves.
.intel_syntax noprefix
.macro deeper name, before, base
.globl \name
.type \name, @function
\name:
    cmp edi, 123456789
    jne 1f
    push rbx
    \before
    mov edi, 1
    call \name
    pop rbx
    ret
1:  \base
    ret
.size \name, .-\name
.endm

deeper register_5, "mov r10d, 5", "mov eax, r10d"
deeper register_6, "mov r10d, 6", "mov eax, r10d"
deeper saved_5, "mov ebx, 5", "mov eax, ebx"
deeper saved_6, "mov ebx, 6", "mov eax, ebx"
deeper vector_0, "pxor xmm5, xmm5", "movq rax, xmm5"
deeper vector_1, "pcmpeqd xmm5, xmm5", "movq rax, xmm5"
deeper unused_5, "mov r10d, 5", "mov eax, edi"
deeper unused_6, "mov r10d, 6", "lea eax, [rdi]"
deeper unused_other, "mov r10d, 6", "lea eax, [rdi+1]"

# The upper half of a register that carries an unsigned int.
.macro upper name, before
.globl \name
.type \name, @function
\name:
    cmp edi, 123456789
    jne 1f
    push rbx
    \before
    call \name
    pop rbx
    ret
1:  mov rax, rdi
    shr rax, 32
    ret
.size \name, .-\name
.endm

upper upper_0, "mov edi, 1"
upper upper_1, "movabs rdi, 0x100000001"

# What lies above the return address.
.macro frame name, number
.globl \name
.type \name, @function
\name:
    cmp edi, 123456789
    jne 1f
    push \number
    mov edi, 1
    call \name
    pop rcx
    ret
1:  mov eax, [rsp+8]
    ret
.size \name, .-\name
.endm

frame frame_5, 5
frame frame_6, 6
.section .note.GNU-stack,"",@progbits
