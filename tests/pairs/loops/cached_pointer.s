# A list whose elements are doubled; where the pointer to the current node is kept.
        .intel_syntax noprefix
        .text

# void twice(struct node *p), next at 0 and value at 8: the pointer lives in the frame.
        .globl  twice
        .type   twice, @function
twice:
        mov     qword ptr [rsp-8], rdi
        jmp     2f
1:      mov     rax, qword ptr [rsp-8]
        mov     ecx, dword ptr [rax+8]
        add     ecx, ecx
        mov     rax, qword ptr [rsp-8]
        mov     dword ptr [rax+8], ecx
        mov     rax, qword ptr [rsp-8]
        mov     rax, qword ptr [rax]
        mov     qword ptr [rsp-8], rax
2:      cmp     qword ptr [rsp-8], 0
        jne     1b
        ret
        .size   twice, .-twice

# It is cached in a register over the iterations.
        .globl  twice_cached
        .type   twice_cached, @function
twice_cached:
        test    rdi, rdi
        je      2f
1:      shl     dword ptr [rdi+8]
        mov     rdi, qword ptr [rdi]
        test    rdi, rdi
        jne     1b
2:      ret
        .size   twice_cached, .-twice_cached

# The copy in the frame, which is still used, falls behind the register.
        .globl  twice_stale
        .type   twice_stale, @function
twice_stale:
        mov     qword ptr [rsp-8], rdi
        test    rdi, rdi
        je      2f
1:      mov     rax, qword ptr [rsp-8]
        shl     dword ptr [rax+8]
        mov     rdi, qword ptr [rdi]
        test    rdi, rdi
        jne     1b
2:      ret
        .size   twice_stale, .-twice_stale
