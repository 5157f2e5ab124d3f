# No debug information. Calls of functions without a prototype say in al how many vector registers hold arguments.
        .intel_syntax noprefix
        .globl passes_two, passes_two_too, passes_two_other, passes_one, first_one, first_two

        # void f(int x, double d, double e) { h(x, d, e); }
passes_two:
        mov     eax, 2
        jmp     h

        # The same.
passes_two_too:
        sub     rsp, 8
        mov     al, 2
        call    h
        add     rsp, 8
        ret

        # h(x + 1, d, e);
passes_two_other:
        add     edi, 1
        mov     eax, 2
        jmp     h

        # h(x, d): xmm1 is as it was.
passes_one:
        mov     eax, 1
        jmp     h

        # h(x); h(x, 1.0);
first_one:
        push    rbx
        mov     ebx, edi
        xor     eax, eax
        call    h
        movsd   xmm0, one[rip]
        mov     edi, ebx
        mov     eax, 1
        pop     rbx
        jmp     h

        # h(x); h(x, 2.0);
first_two:
        push    rbx
        mov     ebx, edi
        xor     eax, eax
        call    h
        movsd   xmm0, two[rip]
        mov     edi, ebx
        mov     eax, 1
        pop     rbx
        jmp     h

        .section .rodata
one:    .double 1.0
two:    .double 2.0
        .section .note.GNU-stack
