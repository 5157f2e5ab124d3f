# Functions that read a register after calling themselves, though a call need not preserve it.
        .text
        .globl reads_scratch
        .type reads_scratch, @function
reads_scratch:
        mov     $7, %ecx
        test    %edi, %edi
        jle     1f
        dec     %edi
        call    reads_scratch
        lea     1(%rcx), %eax
        ret
1:      mov     $3, %eax
        mov     %eax, %ecx
        ret
        .size reads_scratch, . - reads_scratch
        .globl three
        .type three, @function
three:  mov     $3, %eax
        ret
        .size three, . - three
        .section .note.GNU-stack, "", @progbits
