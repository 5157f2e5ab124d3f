# Addresses of the frame that are around while a loop iterates, and are used only after it.
.intel_syntax noprefix

# One of two addresses of the frame, written through where memory is no output.
.globl chosen
.type chosen, @function
chosen:
    lea rcx, [rsp-16]
    lea rdx, [rsp-24]
    test edi, 1
    cmovne rcx, rdx
    mov qword ptr [rsp-16], 5
    mov qword ptr [rsp-24], 5
    xor eax, eax
    and esi, 63
    or esi, 40
1:
    add eax, esi
    dec esi
    jnz 1b
    imul edi, edi, 0x9E3779B1
    mov edx, 5
    mov r8d, 1
    cmp edi, 0x12345678
    cmove rdx, r8
    mov [rcx], rdx
    add rax, [rsp-16]
    ret
.size chosen, .-chosen

.globl unchosen
.type unchosen, @function
unchosen:
    mov qword ptr [rsp-16], 5
    xor eax, eax
    and esi, 63
    or esi, 40
1:
    add eax, esi
    dec esi
    jnz 1b
    add rax, [rsp-16]
    ret
.size unchosen, .-unchosen

# An address in a slot that only a second loop reads, which no test enters.
.macro spilled name, changes
.globl \name
.type \name, @function
\name:
    lea rcx, [rsp-16]
    mov [rsp-8], rcx
    mov qword ptr [rsp-16], 5
    xor eax, eax
    and esi, 63
    inc esi
1:
    add eax, esi
    dec esi
    jnz 1b
    imul edi, edi, 0x9E3779B1
    cmp edi, 0x12345678
    jne 3f
    mov r9d, 1
2:
.if \changes
    mov rcx, [rsp-8]
    mov r8, [rcx]
    mov qword ptr [rcx], 1
.endif
    mov rdx, [rsp-16]
.if \changes
    mov [rcx], r8
.endif
    add rax, rdx
    dec r9d
    jnz 2b
    ret
3:
    add rax, [rsp-16]
    ret
.size \name, .-\name
.endm

spilled changed, 1
spilled unchanged, 0
