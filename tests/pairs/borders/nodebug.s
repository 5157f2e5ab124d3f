        .intel_syntax noprefix
# What is in rax when these return is an address, or what was loaded: perhaps no result at all.
        .globl scratch, scratch_other
        .type scratch, @function
scratch:
        mov eax, dword ptr [rdi]
        mov dword ptr [rsi], eax
        ret
        .size scratch, .-scratch
        .type scratch_other, @function
scratch_other:
        mov ecx, dword ptr [rdi]
        mov rax, rsi
        mov dword ptr [rax], ecx
        ret
        .size scratch_other, .-scratch_other
