# Division by the machine's own instruction.
        .intel_syntax noprefix
        .text
        .macro  entry name
        .globl  \name
        .type   \name, @function
\name:
        .endm

        entry   divide_ten
        mov     eax, edi
        xor     edx, edx
        mov     ecx, 10
        div     ecx
        ret
        .size   divide_ten, .-divide_ten

        entry   divide_eleven
        mov     eax, edi
        xor     edx, edx
        mov     ecx, 11
        div     ecx
        ret
        .size   divide_eleven, .-divide_eleven

        entry   divide_seven
        mov     eax, edi
        xor     edx, edx
        mov     ecx, 7
        div     ecx
        ret
        .size   divide_seven, .-divide_seven

# The 33-bit magic number of 7 cut to 32 bits: wrong only for large x.
        entry   divide_seven_broken
        mov     eax, edi
        imul    rax, rax, 0x24924925
        shr     rax, 32
        ret
        .size   divide_seven_broken, .-divide_seven_broken

        entry   divide_signed_ten
        mov     eax, edi
        cdq
        mov     ecx, 10
        idiv    ecx
        ret
        .size   divide_signed_ten, .-divide_signed_ten

# Rounds towards minus infinity.
        entry   divide_signed_ten_broken
        movsxd  rax, edi
        imul    rax, rax, 0x66666667
        sar     rax, 34
        ret
        .size   divide_signed_ten_broken, .-divide_signed_ten_broken

        entry   remainder_ten
        mov     eax, edi
        xor     edx, edx
        mov     ecx, 10
        div     ecx
        mov     eax, edx
        ret
        .size   remainder_ten, .-remainder_ten

        entry   quotient
        mov     eax, edi
        cdq
        idiv    esi
        ret
        .size   quotient, .-quotient

# Never faults: 0 for a divisor of 0, the negative for one of -1.
        entry   quotient_guarded
        xor     eax, eax
        test    esi, esi
        je      1f
        mov     eax, edi
        cmp     esi, -1
        je      2f
        cdq
        idiv    esi
1:      ret
2:      neg     eax
        ret
        .size   quotient_guarded, .-quotient_guarded

# As above, and also 0 for a divisor of 1.
        entry   quotient_guarded_broken
        xor     eax, eax
        cmp     esi, 1
        jbe     1f
        mov     eax, edi
        cmp     esi, -1
        je      2f
        cdq
        idiv    esi
1:      ret
2:      neg     eax
        ret
        .size   quotient_guarded_broken, .-quotient_guarded_broken

# Faults for a divisor of 0 as the instruction does, but not for the smallest number divided by -1.
        entry   quotient_half_guarded
        mov     eax, edi
        cmp     esi, -1
        je      2f
        cdq
        idiv    esi
        ret
2:      neg     eax
        ret
        .size   quotient_half_guarded, .-quotient_half_guarded

# Faults in the same places, by ud2.
        entry   quotient_trapping
        mov     eax, edi
        test    esi, esi
        je      3f
        cmp     esi, -1
        je      2f
        cdq
        idiv    esi
        ret
2:      neg     eax
        jo      3f
        ret
3:      ud2
        .size   quotient_trapping, .-quotient_trapping
        .section .note.GNU-stack,"",@progbits
