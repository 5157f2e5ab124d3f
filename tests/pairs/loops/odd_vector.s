# void add_five(int *x, int n), which adds 5 to every element: one by one; and as clang 14 makes it at -O3, with two
# vectors of eight in an iteration, an odd vector of eight in straight code after (or instead of) the loop, and the rest
# one by one.
        .section .rodata
        .p2align 4
.Lfives:
        .long   5, 5, 5, 5

        .text
        .globl  add_five
        .type   add_five, @function
add_five:
        testl   %esi, %esi
        jle     2f
        movslq  %esi, %rsi
        leaq    (%rdi,%rsi,4), %rdx
1:      addl    $5, (%rdi)
        addq    $4, %rdi
        cmpq    %rdx, %rdi
        jne     1b
2:      retq
        .size   add_five, .-add_five

        .globl  add_five_odd
        .type   add_five_odd, @function
add_five_odd:
        testl   %esi, %esi
        jle     .Lodd11
        movl    %esi, %eax
        cmpl    $8, %esi
        jae     .Lodd3
        xorl    %ecx, %ecx
        jmp     .Lodd10
.Lodd3:
        movl    %eax, %ecx
        andl    $-8, %ecx
        leaq    -8(%rcx), %rdx
        movq    %rdx, %r8
        shrq    $3, %r8
        addq    $1, %r8
        testq   %rdx, %rdx
        je      .Lodd4
        movq    %r8, %rsi
        andq    $-2, %rsi
        xorl    %edx, %edx
        movdqa  .Lfives(%rip), %xmm0
.Lodd6:
        movdqu  (%rdi,%rdx,4), %xmm1
        movdqu  16(%rdi,%rdx,4), %xmm2
        movdqu  32(%rdi,%rdx,4), %xmm3
        movdqu  48(%rdi,%rdx,4), %xmm4
        paddd   %xmm0, %xmm1
        paddd   %xmm0, %xmm2
        movdqu  %xmm1, (%rdi,%rdx,4)
        movdqu  %xmm2, 16(%rdi,%rdx,4)
        paddd   %xmm0, %xmm3
        paddd   %xmm0, %xmm4
        movdqu  %xmm3, 32(%rdi,%rdx,4)
        movdqu  %xmm4, 48(%rdi,%rdx,4)
        addq    $16, %rdx
        addq    $-2, %rsi
        jne     .Lodd6
        testb   $1, %r8b
        je      .Lodd9
.Lodd8:
        movdqu  (%rdi,%rdx,4), %xmm0
        movdqu  16(%rdi,%rdx,4), %xmm1
        movdqa  .Lfives(%rip), %xmm2
        paddd   %xmm2, %xmm0
        paddd   %xmm2, %xmm1
        movdqu  %xmm0, (%rdi,%rdx,4)
        movdqu  %xmm1, 16(%rdi,%rdx,4)
.Lodd9:
        cmpq    %rax, %rcx
        je      .Lodd11
.Lodd10:
        addl    $5, (%rdi,%rcx,4)
        addq    $1, %rcx
        cmpq    %rcx, %rax
        jne     .Lodd10
.Lodd11:
        retq
.Lodd4:
        xorl    %edx, %edx
        testb   $1, %r8b
        jne     .Lodd8
        jmp     .Lodd9
        .size   add_five_odd, .-add_five_odd

# The second half of the odd vector gets what the first half should.
        .globl  add_five_odd_broken
        .type   add_five_odd_broken, @function
add_five_odd_broken:
        testl   %esi, %esi
        jle     .Lbroken11
        movl    %esi, %eax
        cmpl    $8, %esi
        jae     .Lbroken3
        xorl    %ecx, %ecx
        jmp     .Lbroken10
.Lbroken3:
        movl    %eax, %ecx
        andl    $-8, %ecx
        leaq    -8(%rcx), %rdx
        movq    %rdx, %r8
        shrq    $3, %r8
        addq    $1, %r8
        testq   %rdx, %rdx
        je      .Lbroken4
        movq    %r8, %rsi
        andq    $-2, %rsi
        xorl    %edx, %edx
        movdqa  .Lfives(%rip), %xmm0
.Lbroken6:
        movdqu  (%rdi,%rdx,4), %xmm1
        movdqu  16(%rdi,%rdx,4), %xmm2
        movdqu  32(%rdi,%rdx,4), %xmm3
        movdqu  48(%rdi,%rdx,4), %xmm4
        paddd   %xmm0, %xmm1
        paddd   %xmm0, %xmm2
        movdqu  %xmm1, (%rdi,%rdx,4)
        movdqu  %xmm2, 16(%rdi,%rdx,4)
        paddd   %xmm0, %xmm3
        paddd   %xmm0, %xmm4
        movdqu  %xmm3, 32(%rdi,%rdx,4)
        movdqu  %xmm4, 48(%rdi,%rdx,4)
        addq    $16, %rdx
        addq    $-2, %rsi
        jne     .Lbroken6
        testb   $1, %r8b
        je      .Lbroken9
.Lbroken8:
        movdqu  (%rdi,%rdx,4), %xmm0
        movdqu  16(%rdi,%rdx,4), %xmm1
        movdqa  .Lfives(%rip), %xmm2
        paddd   %xmm2, %xmm0
        paddd   %xmm2, %xmm1
        movdqu  %xmm0, (%rdi,%rdx,4)
        movdqu  %xmm0, 16(%rdi,%rdx,4)
.Lbroken9:
        cmpq    %rax, %rcx
        je      .Lbroken11
.Lbroken10:
        addl    $5, (%rdi,%rcx,4)
        addq    $1, %rcx
        cmpq    %rcx, %rax
        jne     .Lbroken10
.Lbroken11:
        retq
.Lbroken4:
        xorl    %edx, %edx
        testb   $1, %r8b
        jne     .Lbroken8
        jmp     .Lbroken9
        .size   add_five_odd_broken, .-add_five_odd_broken

        .section .note.GNU-stack,"",@progbits
