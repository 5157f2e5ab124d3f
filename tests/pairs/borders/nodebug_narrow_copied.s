# Without debug information: `signed char x; unsigned short f(x) { return h() + x; }`. clang relies on the caller having
# extended x, gcc extends it to 16 bits itself, in a register to which x was copied.
	.text
	.globl relies
	.type relies, @function
relies:
	pushq	%rbx
	movl	%edi, %ebx
	call	h
	addl	%ebx, %eax
	popq	%rbx
	ret
	.size relies, .-relies

	.globl extends
	.type extends, @function
extends:
	pushq	%rbp
	movl	%edi, %ebp
	movsbw	%bpl, %bp
	call	h
	addl	%ebp, %eax
	popq	%rbp
	ret
	.size extends, .-extends

	.globl extends_wrong
	.type extends_wrong, @function
extends_wrong:
	pushq	%rbp
	movl	%edi, %ebp
	movsbw	%bpl, %bp
	call	h
	subl	%ebp, %eax
	popq	%rbp
	ret
	.size extends_wrong, .-extends_wrong

# `unsigned short x; int f(x) { return h(x) ? 1 : x; }`: the read of 16 bits is of the argument's own register.
	.globl passes
	.type passes, @function
passes:
	pushq	%rbx
	movl	%edi, %ebx
	call	h
	testl	%eax, %eax
	movl	$1, %eax
	cmovel	%ebx, %eax
	popq	%rbx
	ret
	.size passes, .-passes

	.globl passes_extended
	.type passes_extended, @function
passes_extended:
	pushq	%rbx
	movl	%edi, %ebx
	movzwl	%di, %edi
	call	h
	testl	%eax, %eax
	movl	$1, %eax
	cmovel	%ebx, %eax
	popq	%rbx
	ret
	.size passes_extended, .-passes_extended

	.globl passes_more
	.type passes_more, @function
passes_more:
	pushq	%rbx
	movl	%edi, %ebx
	movzwl	%di, %edi
	incl	%edi
	call	h
	testl	%eax, %eax
	movl	$1, %eax
	cmovel	%ebx, %eax
	popq	%rbx
	ret
	.size passes_more, .-passes_more
