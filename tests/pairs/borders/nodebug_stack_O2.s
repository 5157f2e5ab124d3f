	.text
	.p2align 4
	.globl	last
	.type	last, @function
last:
	movq	24(%rsp), %rax
	addq	8(%rsp), %rax
	ret
	.size	last, .-last
	.p2align 4
	.globl	keeps
	.type	keeps, @function
keeps:
	movq	24(%rsp), %rax
	addq	8(%rsp), %rax
	movq	%rax, (%rdi)
	ret
	.size	keeps, .-keeps
	.p2align 4
	.globl	high
	.type	high, @function
high:
	movq	16(%rsp), %rax
	addq	%rdi, %rax
	ret
	.size	high, .-high
	.p2align 4
	.globl	adds
	.type	adds, @function
adds:
	fldt	8(%rsp)
	fldt	24(%rsp)
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
	leaq	1(%rax), %rdx
	ret
	.size	uses, .-uses
	.section	.rodata.cst8,"aM",@progbits,8
	.align 8
.LC1:
	.long	0
	.long	1072693248
