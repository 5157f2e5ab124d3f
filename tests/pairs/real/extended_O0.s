# Two functions of extended.c, by gcc -O0 -g0 -S
	.text
	.globl	rounded
	.type	rounded, @function
rounded:
	pushq	%rbp
	movq	%rsp, %rbp
	fldt	16(%rbp)
	fstpt	-32(%rbp)
	movzwl	-24(%rbp), %eax
	movzwl	%ax, %eax
	andl	$32767, %eax
	movl	%eax, -4(%rbp)
	cmpl	$16445, -4(%rbp)
	jle	.L2
	fldt	16(%rbp)
	jmp	.L6
.L2:
	movzwl	-24(%rbp), %eax
	testw	%ax, %ax
	jns	.L4
	fldt	16(%rbp)
	fldt	.LC0(%rip)
	fsubrp	%st, %st(1)
	fldt	.LC0(%rip)
	faddp	%st, %st(1)
	jmp	.L6
.L4:
	fldt	16(%rbp)
	fldt	.LC0(%rip)
	faddp	%st, %st(1)
	fldt	.LC0(%rip)
	fsubrp	%st, %st(1)
.L6:
	popq	%rbp
	ret
	.size	rounded, .-rounded
	.globl	rounded_up
	.type	rounded_up, @function
rounded_up:
	pushq	%rbp
	movq	%rsp, %rbp
	fldt	16(%rbp)
	fstpt	-32(%rbp)
	movzwl	-24(%rbp), %eax
	movzwl	%ax, %eax
	andl	$32767, %eax
	movl	%eax, -4(%rbp)
	cmpl	$16444, -4(%rbp)
	jle	.L8
	fldt	16(%rbp)
	jmp	.L12
.L8:
	movzwl	-24(%rbp), %eax
	testw	%ax, %ax
	jns	.L10
	fldt	16(%rbp)
	fldt	.LC0(%rip)
	fsubrp	%st, %st(1)
	fldt	.LC0(%rip)
	faddp	%st, %st(1)
	jmp	.L12
.L10:
	fldt	16(%rbp)
	fldt	.LC0(%rip)
	faddp	%st, %st(1)
	fldt	.LC0(%rip)
	fsubrp	%st, %st(1)
.L12:
	popq	%rbp
	ret
	.size	rounded_up, .-rounded_up
	.section	.rodata
	.align 16
.LC0:
	.long	0
	.long	-2147483648
	.long	16446
	.long	0
