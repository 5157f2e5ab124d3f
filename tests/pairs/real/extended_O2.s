# Two functions of extended.c, by gcc -O2 -g0 -S
	.text
	.p2align 4
	.globl	rounded
	.type	rounded, @function
rounded:
	movl	16(%rsp), %edx
	movq	8(%rsp), %rax
	movl	%edx, %esi
	movq	%rax, -24(%rsp)
	andw	$32767, %si
	movl	%edx, -16(%rsp)
	fldt	-24(%rsp)
	cmpw	$16445, %si
	ja	.L1
	flds	.LC0(%rip)
	testw	%dx, %dx
	js	.L6
	fadd	%st, %st(1)
	fsubrp	%st, %st(1)
.L1:
	ret
	.p2align 4,,10
	.p2align 3
.L6:
	fsubr	%st, %st(1)
	faddp	%st, %st(1)
	ret
	.size	rounded, .-rounded
	.p2align 4
	.globl	rounded_up
	.type	rounded_up, @function
rounded_up:
	movl	16(%rsp), %edx
	movq	8(%rsp), %rax
	movl	%edx, %esi
	movq	%rax, -24(%rsp)
	andw	$32767, %si
	movl	%edx, -16(%rsp)
	fldt	-24(%rsp)
	cmpw	$16444, %si
	ja	.L7
	flds	.LC0(%rip)
	testw	%dx, %dx
	js	.L11
	fadd	%st, %st(1)
	fsubrp	%st, %st(1)
.L7:
	ret
	.p2align 4,,10
	.p2align 3
.L11:
	fsubr	%st, %st(1)
	faddp	%st, %st(1)
	ret
	.size	rounded_up, .-rounded_up
	.section	.rodata.cst4,"aM",@progbits,4
	.align 4
.LC0:
	.long	1593835520
