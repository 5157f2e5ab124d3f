	.text
	.p2align 4
	.globl	last
	.type	last, @function
last:
	movq	24(%rsp), %rdx
	movq	8(%rsp), %rax
	leaq	(%rax,%rdx,2), %rax
	ret
	.size	last, .-last
	.p2align 4
	.globl	keeps
	.type	keeps, @function
keeps:
	movq	24(%rsp), %rdx
	movq	8(%rsp), %rax
	leaq	(%rax,%rdx,2), %rax
	movq	%rax, (%rdi)
	ret
	.size	keeps, .-keeps
	.p2align 4
	.globl	high
	.type	high, @function
high:
	movq	16(%rsp), %rax
	leaq	(%rdi,%rax,2), %rax
	ret
	.size	high, .-high
	.p2align 4
	.globl	adds
	.type	adds, @function
adds:
	fldt	24(%rsp)
	fadd	%st(0), %st
	fldt	8(%rsp)
	faddp	%st, %st(1)
	ret
	.size	adds, .-adds
	.p2align 4
	.globl	passes
	.type	passes, @function
passes:
	addsd	.LC1(%rip), %xmm1
	ret
	.size	passes, .-passes
	.p2align 4
	.globl	uses
	.type	uses, @function
uses:
	leaq	(%rdi,%rdi,2), %rax
	leaq	2(%rax), %rdx
	ret
	.size	uses, .-uses
	.section	.rodata.cst8,"aM",@progbits,8
	.align 8
.LC1:
	.long	0
	.long	1073741824
