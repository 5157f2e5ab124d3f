# nodebug.c, by gcc -O0 -g0 -S
	.file	"nodebug.c"
	.text
	.globl	plus_one
	.type	plus_one, @function
plus_one:
	pushq	%rbp
	movq	%rsp, %rbp
	movsd	%xmm0, -8(%rbp)
	movsd	-8(%rbp), %xmm1
	movsd	.LC0(%rip), %xmm0
	addsd	%xmm1, %xmm0
	movq	%xmm0, %rax
	movq	%rax, %xmm0
	popq	%rbp
	ret
	.size	plus_one, .-plus_one
	.globl	one_plus
	.type	one_plus, @function
one_plus:
	pushq	%rbp
	movq	%rsp, %rbp
	movsd	%xmm0, -8(%rbp)
	movsd	-8(%rbp), %xmm1
	movsd	.LC0(%rip), %xmm0
	addsd	%xmm1, %xmm0
	movq	%xmm0, %rax
	movq	%rax, %xmm0
	popq	%rbp
	ret
	.size	one_plus, .-one_plus
	.globl	plus_two
	.type	plus_two, @function
plus_two:
	pushq	%rbp
	movq	%rsp, %rbp
	movsd	%xmm0, -8(%rbp)
	movsd	-8(%rbp), %xmm1
	movsd	.LC1(%rip), %xmm0
	addsd	%xmm1, %xmm0
	movq	%xmm0, %rax
	movq	%rax, %xmm0
	popq	%rbp
	ret
	.size	plus_two, .-plus_two
	.globl	both
	.type	both, @function
both:
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%rbx
	movsd	%xmm0, -40(%rbp)
	movsd	%xmm1, -48(%rbp)
	movsd	-40(%rbp), %xmm1
	movsd	.LC0(%rip), %xmm0
	addsd	%xmm1, %xmm0
	movsd	%xmm0, -32(%rbp)
	movsd	-48(%rbp), %xmm0
	addsd	%xmm0, %xmm0
	movsd	%xmm0, -24(%rbp)
	movq	-32(%rbp), %rax
	movq	-24(%rbp), %rdx
	movq	%rax, %rsi
	movq	%rdx, %rdi
	movq	%rax, %rcx
	movq	%rdx, %rbx
	movq	%rsi, %rax
	movq	%rbx, %xmm1
	movq	%rax, %xmm0
	movq	-8(%rbp), %rbx
	leave
	ret
	.size	both, .-both
	.globl	both_again
	.type	both_again, @function
both_again:
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%rbx
	movsd	%xmm0, -40(%rbp)
	movsd	%xmm1, -48(%rbp)
	movsd	-40(%rbp), %xmm1
	movsd	.LC0(%rip), %xmm0
	addsd	%xmm1, %xmm0
	movsd	%xmm0, -32(%rbp)
	movsd	-48(%rbp), %xmm0
	addsd	%xmm0, %xmm0
	movsd	%xmm0, -24(%rbp)
	movq	-32(%rbp), %rax
	movq	-24(%rbp), %rdx
	movq	%rax, %rsi
	movq	%rdx, %rdi
	movq	%rax, %rcx
	movq	%rdx, %rbx
	movq	%rsi, %rax
	movq	%rbx, %xmm1
	movq	%rax, %xmm0
	movq	-8(%rbp), %rbx
	leave
	ret
	.size	both_again, .-both_again
	.globl	both_wrong
	.type	both_wrong, @function
both_wrong:
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%rbx
	movsd	%xmm0, -40(%rbp)
	movsd	%xmm1, -48(%rbp)
	movsd	-40(%rbp), %xmm1
	movsd	.LC0(%rip), %xmm0
	addsd	%xmm1, %xmm0
	movsd	%xmm0, -32(%rbp)
	movsd	-48(%rbp), %xmm1
	movsd	.LC1(%rip), %xmm0
	addsd	%xmm1, %xmm0
	movsd	%xmm0, -24(%rbp)
	movq	-32(%rbp), %rax
	movq	-24(%rbp), %rdx
	movq	%rax, %rsi
	movq	%rdx, %rdi
	movq	%rax, %rcx
	movq	%rdx, %rbx
	movq	%rsi, %rax
	movq	%rbx, %xmm1
	movq	%rax, %xmm0
	movq	-8(%rbp), %rbx
	leave
	ret
	.size	both_wrong, .-both_wrong
	.globl	wide
	.type	wide, @function
wide:
	pushq	%rbp
	movq	%rsp, %rbp
	movq	%rdi, -8(%rbp)
	movq	-8(%rbp), %rcx
	movq	%rcx, %rax
	movl	$0, %edx
	imulq	$1, %rdx, %rsi
	imulq	$1, %rax, %rcx
	addq	%rsi, %rcx
	movl	$1, %esi
	mulq	%rsi
	addq	%rdx, %rcx
	movq	%rcx, %rdx
	popq	%rbp
	ret
	.size	wide, .-wide
	.globl	wide_again
	.type	wide_again, @function
wide_again:
	pushq	%rbp
	movq	%rsp, %rbp
	movq	%rdi, -8(%rbp)
	movq	-8(%rbp), %rcx
	movq	%rcx, %rax
	movl	$0, %edx
	imulq	$1, %rdx, %rsi
	imulq	$1, %rax, %rcx
	addq	%rsi, %rcx
	movl	$1, %esi
	mulq	%rsi
	addq	%rdx, %rcx
	movq	%rcx, %rdx
	popq	%rbp
	ret
	.size	wide_again, .-wide_again
	.globl	wide_wrong
	.type	wide_wrong, @function
wide_wrong:
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%rbx
	movq	%rdi, -24(%rbp)
	movq	-24(%rbp), %rsi
	addq	$1, %rsi
	movq	%rsi, %rax
	movl	$0, %edx
	movq	%rax, %rdx
	movl	$0, %eax
	movq	-24(%rbp), %rsi
	movq	%rsi, %rcx
	movl	$0, %ebx
	movq	%rax, %rdi
	orq	%rcx, %rdi
	movq	%rdi, %r8
	movq	%rdx, %rax
	orq	%rbx, %rax
	movq	%rax, %r9
	movq	%r8, %rax
	movq	%r9, %rdx
	movq	-8(%rbp), %rbx
	leave
	ret
	.size	wide_wrong, .-wide_wrong
	.globl	next
	.type	next, @function
next:
	pushq	%rbp
	movq	%rsp, %rbp
	movq	%rdi, -8(%rbp)
	movl	%esi, -12(%rbp)
	movl	-12(%rbp), %edx
	movl	%edx, %eax
	addl	%eax, %eax
	addl	%edx, %eax
	leal	1(%rax), %edx
	movq	-8(%rbp), %rax
	movl	%edx, (%rax)
	movq	-8(%rbp), %rax
	addq	$8, %rax
	movl	(%rax), %eax
	movq	-8(%rbp), %rdx
	addq	$4, %rdx
	subl	-12(%rbp), %eax
	movl	%eax, (%rdx)
	nop
	popq	%rbp
	ret
	.size	next, .-next
	.globl	next_wrong
	.type	next_wrong, @function
next_wrong:
	pushq	%rbp
	movq	%rsp, %rbp
	movq	%rdi, -8(%rbp)
	movl	%esi, -12(%rbp)
	movl	-12(%rbp), %edx
	movl	%edx, %eax
	addl	%eax, %eax
	addl	%edx, %eax
	leal	1(%rax), %edx
	movq	-8(%rbp), %rax
	movl	%edx, (%rax)
	movq	-8(%rbp), %rax
	addq	$8, %rax
	movl	(%rax), %ecx
	movq	-8(%rbp), %rax
	addq	$4, %rax
	movl	-12(%rbp), %edx
	addl	%ecx, %edx
	movl	%edx, (%rax)
	nop
	popq	%rbp
	ret
	.size	next_wrong, .-next_wrong
	.globl	sum
	.type	sum, @function
sum:
	pushq	%rbp
	movq	%rsp, %rbp
	movl	%edi, %edx
	movl	%esi, %eax
	movb	%dl, -4(%rbp)
	movb	%al, -8(%rbp)
	movzbl	-4(%rbp), %edx
	movzbl	-8(%rbp), %eax
	addl	%edx, %eax
	popq	%rbp
	ret
	.size	sum, .-sum
	.globl	sum_wrong
	.type	sum_wrong, @function
sum_wrong:
	pushq	%rbp
	movq	%rsp, %rbp
	movl	%edi, %edx
	movl	%esi, %eax
	movb	%dl, -4(%rbp)
	movb	%al, -8(%rbp)
	movzbl	-4(%rbp), %edx
	movzbl	-8(%rbp), %eax
	addl	%edx, %eax
	addl	$1, %eax
	popq	%rbp
	ret
	.size	sum_wrong, .-sum_wrong
	.globl	keep
	.type	keep, @function
keep:
	pushq	%rbp
	movq	%rsp, %rbp
	movq	%rdi, -8(%rbp)
	movsd	%xmm0, -16(%rbp)
	movsd	-16(%rbp), %xmm1
	movsd	.LC0(%rip), %xmm0
	addsd	%xmm1, %xmm0
	movq	-8(%rbp), %rax
	movsd	%xmm0, (%rax)
	movq	-8(%rbp), %rax
	movsd	(%rax), %xmm0
	movq	%xmm0, %rax
	movq	%rax, %xmm0
	popq	%rbp
	ret
	.size	keep, .-keep
	.globl	keep_wrong
	.type	keep_wrong, @function
keep_wrong:
	pushq	%rbp
	movq	%rsp, %rbp
	movq	%rdi, -8(%rbp)
	movsd	%xmm0, -16(%rbp)
	movsd	-16(%rbp), %xmm1
	movsd	.LC0(%rip), %xmm0
	addsd	%xmm1, %xmm0
	movq	-8(%rbp), %rax
	movsd	%xmm0, (%rax)
	movsd	-16(%rbp), %xmm0
	movq	%xmm0, %rax
	movq	%rax, %xmm0
	popq	%rbp
	ret
	.size	keep_wrong, .-keep_wrong
	.section	.rodata
	.align 8
.LC0:
	.long	0
	.long	1072693248
	.align 8
.LC1:
	.long	0
	.long	1073741824
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
