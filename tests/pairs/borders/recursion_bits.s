# A deeper result whose upper half is used, and a register that must be restored.
        .intel_syntax noprefix
        .text
        .globl upper, upper_one, clobbers, clobbers_one
        .type upper, @function
upper:  test edi, edi
        je 1f
        dec edi
        call upper
        shr rax, 32
        ret
1:      mov eax, 1
        ret
        .size upper, .-upper
        .type upper_one, @function
upper_one: movabs rax, 0x100000001
        ret
        .size upper_one, .-upper_one
        .type clobbers, @function
clobbers: test edi, edi
        je 1f
        dec edi
        mov ebx, 1
        call clobbers
        mov eax, 1
        ret
1:      mov eax, 1
        ret
        .size clobbers, .-clobbers
        .type clobbers_one, @function
clobbers_one: mov eax, 1
        ret
        .size clobbers_one, .-clobbers_one
