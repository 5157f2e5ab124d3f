# int f(int n, int x): another number in the first iteration
    .intel_syntax noprefix
    .globl f, g
f:
    xor eax, eax
    xor edx, edx
1:  cmp edx, edi
    jge 3f
    test edx, edx
    jne 2f
    add eax, 3
    inc edx
    jmp 1b
2:  add eax, esi
    inc edx
    jmp 1b
3:  ret
g:
    xor eax, eax
    xor edx, edx
1:  cmp edx, edi
    jge 3f
    add eax, esi
    inc edx
    jmp 1b
3:  ret
