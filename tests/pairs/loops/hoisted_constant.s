# y += a * x, four elements in each iteration; where the vector of four a is made.
        .intel_syntax noprefix
        .text

# void saxpy(unsigned *y, const unsigned *x, unsigned long n, unsigned a), n a number of groups of four.
        .globl  saxpy
        .type   saxpy, @function
saxpy:
        xor     eax, eax
        jmp     2f
1:      movd    xmm0, ecx
        pshufd  xmm0, xmm0, 0
        movdqu  xmm1, xmmword ptr [rsi]
        pmulld  xmm0, xmm1
        movdqu  xmm1, xmmword ptr [rdi]
        paddd   xmm0, xmm1
        movdqu  xmmword ptr [rdi], xmm0
        add     rsi, 16
        add     rdi, 16
        inc     rax
2:      cmp     rax, rdx
        jb      1b
        ret
        .size   saxpy, .-saxpy

# Registers renamed, so that the vector can be made before the loop.
        .globl  saxpy_hoisted
        .type   saxpy_hoisted, @function
saxpy_hoisted:
        movd    xmm2, ecx
        shufps  xmm2, xmm2, 0
        xor     eax, eax
        jmp     2f
1:      movdqu  xmm0, xmmword ptr [rsi+rax]
        pmulld  xmm0, xmm2
        movdqu  xmm1, xmmword ptr [rdi+rax]
        paddd   xmm1, xmm0
        movdqu  xmmword ptr [rdi+rax], xmm1
        add     rax, 16
        dec     rdx
2:      test    rdx, rdx
        jne     1b
        ret
        .size   saxpy_hoisted, .-saxpy_hoisted

# Hoisted without renaming: the product overwrites the vector of a.
        .globl  saxpy_overwritten
        .type   saxpy_overwritten, @function
saxpy_overwritten:
        movd    xmm0, ecx
        pshufd  xmm0, xmm0, 0
        xor     eax, eax
        jmp     2f
1:      movdqu  xmm1, xmmword ptr [rsi+rax]
        pmulld  xmm0, xmm1
        movdqu  xmm1, xmmword ptr [rdi+rax]
        paddd   xmm1, xmm0
        movdqu  xmmword ptr [rdi+rax], xmm1
        add     rax, 16
        dec     rdx
2:      test    rdx, rdx
        jne     1b
        ret
        .size   saxpy_overwritten, .-saxpy_overwritten
