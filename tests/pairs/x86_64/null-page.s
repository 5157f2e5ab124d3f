        .intel_syntax noprefix
        .text
        .globl  reads_null_page, reads_null_page_other
# Whatever the argument, the load is from the page around null, which no program may use.
reads_null_page:
        and     edi, 0xff0
        mov     eax, dword ptr [rdi]
        ret
        .size   reads_null_page, .-reads_null_page
        .type   reads_null_page, @function
reads_null_page_other:
        and     edi, 0xff0
        mov     eax, dword ptr [rdi]
        inc     eax
        ret
        .size   reads_null_page_other, .-reads_null_page_other
        .type   reads_null_page_other, @function
        .section .note.GNU-stack,"",@progbits
