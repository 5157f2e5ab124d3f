# Callees without a declaration. clang aligns the stack by pushing rax, which holds nothing. Where something that nothing
# reads again lies above it, the two may be a structure whose first member nobody set.
	.macro function name, amount
	.globl \name
	.type \name, @function
\name:
	pushq	%rax
	leal	\amount(%rdi), %edi
	call	g
	popq	%rcx
	ret
	.size \name, .-\name
	.endm

	function aligned_1, 1
	function aligned_1_too, 1
	function aligned_2, 2

	.macro structure name, amount
	.globl \name
	.type \name, @function
\name:
	subq	$8, %rsp
	leaq	\amount(%rsi), %rcx
	pushq	%rcx
	xorl	%ecx, %ecx
	pushq	%rax
	call	g
	addq	$24, %rsp
	ret
	.size \name, .-\name
	.endm

	structure passed_1, 1
	structure passed_2, 2
