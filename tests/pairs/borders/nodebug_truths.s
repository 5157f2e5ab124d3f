        .intel_syntax noprefix
# Truth values: what is above the byte that setz writes is what was there before, or known.
        .globl exchanged, exchanged_copied, exchanged_wrong, either, either_copied, either_wrong, counted, counted_more
        .type exchanged, @function
exchanged:
        mov eax, dword ptr [rsi]
        lock cmpxchg dword ptr [rdi], edx
        mov ecx, eax
        sete al
        je 1f
        mov dword ptr [rsi], ecx
1:      ret
        .size exchanged, .-exchanged
        .type exchanged_copied, @function
exchanged_copied:
        mov eax, dword ptr [rsi]
        lock cmpxchg dword ptr [rdi], edx
        sete dl
        je 1f
        mov dword ptr [rsi], eax
1:      mov eax, edx
        ret
        .size exchanged_copied, .-exchanged_copied
        .type exchanged_wrong, @function
exchanged_wrong:
        mov eax, dword ptr [rsi]
        lock cmpxchg dword ptr [rdi], edx
        setne dl
        je 1f
        mov dword ptr [rsi], eax
1:      mov eax, edx
        ret
        .size exchanged_wrong, .-exchanged_wrong
        .type either, @function
either:
        cmp edi, esi
        setl cl
        cmp edi, edx
        setg al
        or eax, ecx
        ret
        .size either, .-either
        .type either_copied, @function
either_copied:
        cmp edi, edx
        setg dl
        cmp edi, esi
        setl cl
        mov eax, ecx
        or eax, edx
        ret
        .size either_copied, .-either_copied
        .type either_wrong, @function
either_wrong:
        cmp edi, edx
        setg dl
        cmp edi, esi
        setl cl
        mov eax, ecx
        and eax, edx
        ret
        .size either_wrong, .-either_wrong
# Numbers of 32 bits whose lowest byte is a truth value: 0 or 1, and 256 or 257.
        .type counted, @function
counted:
        xor eax, eax
        cmp edi, esi
        sete al
        ret
        .size counted, .-counted
        .type counted_more, @function
counted_more:
        mov eax, 256
        cmp edi, esi
        sete al
        ret
        .size counted_more, .-counted_more
