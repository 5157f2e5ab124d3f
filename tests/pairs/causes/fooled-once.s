# int f(int n, int x): the value of one iteration
    .intel_syntax noprefix
    .globl f, g
f:
    lea edx, [rsi+3]
    xor eax, eax
1:  test edi, edi
    jle 2f
    add esi, 3
    add eax, esi
    dec edi
    jmp 1b
2:  ret
g:
    xor eax, eax
1:  test edi, edi
    jle 2f
    add esi, 4
    add eax, esi
    dec edi
    jmp 1b
2:  ret
