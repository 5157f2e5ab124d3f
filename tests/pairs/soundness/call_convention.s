# What a callee may rely on beside its arguments: the direction flag, the stack pointer, its alignment.
.intel_syntax noprefix
.macro function name
.globl \name
.type \name, @function
\name:
.endm

function plain
    sub rsp, 8
    call g@PLT
    add rsp, 8
    ret
.size plain, .-plain

# Backwards, but forwards again for the call.
function set_before
    sub rsp, 8
    std
    cld
    call g@PLT
    push rax
    pop rax
    add rsp, 8
    ret
.size set_before, .-set_before

function set_at_call
    sub rsp, 8
    std
    call g@PLT
    cld
    add rsp, 8
    ret
.size set_at_call, .-set_at_call

function not_called
    ret
.size not_called, .-not_called

function copied
    sub rsp, 8
    mov edx, 100
    call memcpy@PLT
    add rsp, 8
    ret
.size copied, .-copied

function copied_backwards
    sub rsp, 8
    mov edx, 100
    std
    call memcpy@PLT
    cld
    add rsp, 8
    ret
.size copied_backwards, .-copied_backwards

function above
    add rsp, 8
    call g@PLT
    sub rsp, 8
    ret
.size above, .-above

function tail
    jmp g@PLT
.size tail, .-tail

# g returns to another place than the caller.
function tail_elsewhere
    lea rax, [rip + not_called]
    mov [rsp], rax
    jmp g@PLT
.size tail_elsewhere, .-tail_elsewhere

# g returns to where rax points.
function tail_pushed
    push rax
    jmp g@PLT
.size tail_pushed, .-tail_pushed

function unaligned
    call g@PLT
    ret
.size unaligned, .-unaligned

function unaligned_more
    sub rsp, 16
    call g@PLT
    add rsp, 16
    ret
.size unaligned_more, .-unaligned_more

# Six numbers are printed; the last one is on the stack, which is the callee's to change.
.macro six name, after
function \name
    mov esi, 1
    mov edx, 2
    mov ecx, 3
    mov r8d, 4
    mov r9d, 5
    push 7
    lea rdi, [rip + format]
    xor eax, eax
    call printf@PLT
    \after
    ret
.size \name, .-\name
.endm

six argument_again, "pop rax"
six argument_popped, "pop rcx; mov eax, 7"
six argument_dropped, "add rsp, 8; mov eax, 7"
six argument_other, "add rsp, 8; mov eax, 8"

.section .rodata
format:
    .string "%d %d %d %d %d %d"
.section .note.GNU-stack,"",@progbits
