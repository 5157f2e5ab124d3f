# int f(int x, int y): x = 7 and y = 100 differ on the other branch
    .intel_syntax noprefix
    .globl f, g
f:
    cmp edi, 7
    jne 1f
    lea eax, [rsi+1]
    ret
1:  cmp esi, 100
    je 2f
    mov eax, edi
    ret
2:  mov eax, edi
    ret
g:
    cmp edi, 7
    jne 1f
    lea eax, [rsi+2]
    ret
1:  mov eax, edi
    ret
