        .intel_syntax noprefix
        .text
        .globl  kept, lost, above, again

# What lies below the stack pointer belongs to whoever is called.
kept:
        push    rbx
        mov     ebx, edi
        call    outside
        mov     eax, ebx
        pop     rbx
        ret
        .size   kept, .-kept
        .type   kept, @function

lost:
        mov     dword ptr [rsp-16], edi
        sub     rsp, 8
        call    outside
        add     rsp, 8
        mov     eax, dword ptr [rsp-16]
        ret
        .size   lost, .-lost
        .type   lost, @function

above:
        sub     rsp, 24
        mov     dword ptr [rsp+8], edi
        call    outside
        mov     eax, dword ptr [rsp+8]
        add     rsp, 24
        ret
        .size   above, .-above
        .type   above, @function

again:
        mov     dword ptr [rsp-16], edi
        mov     eax, dword ptr [rsp-16]
        ret
        .size   again, .-again
        .type   again, @function
        .section .note.GNU-stack,"",@progbits
