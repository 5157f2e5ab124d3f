# What compilers call with a convention of their own: a return through a thunk (-mfunction-return=thunk-extern), a call
# through one (-mindirect-branch=thunk-extern).
	.text
	.globl returns_1
	.type returns_1, @function
returns_1:
	leal	1(%rdi), %eax
	jmp	__x86_return_thunk
	.size returns_1, .-returns_1

	.globl returns_2
	.type returns_2, @function
returns_2:
	leal	2(%rdi), %eax
	jmp	__x86_return_thunk
	.size returns_2, .-returns_2

	.globl calls_first
	.type calls_first, @function
calls_first:
	subq	$8, %rsp
	movq	(%rsi), %rax
	call	__x86_indirect_thunk_rax
	addq	$8, %rsp
	ret
	.size calls_first, .-calls_first

	.globl calls_second
	.type calls_second, @function
calls_second:
	subq	$8, %rsp
	movq	8(%rsi), %rax
	call	__x86_indirect_thunk_rax
	addq	$8, %rsp
	ret
	.size calls_second, .-calls_second

# gcc looks into a static callee and leaves what it does not touch where it is (-fipa-ra).
	.type thrice, @function
thrice:
	leal	(%rdi,%rdi,2), %eax
	ret
	.size thrice, .-thrice

	.globl kept
	.type kept, @function
kept:
	call	thrice
	addl	%esi, %eax
	ret
	.size kept, .-kept

	.globl saved
	.type saved, @function
saved:
	pushq	%rbx
	movl	%esi, %ebx
	call	thrice
	addl	%ebx, %eax
	popq	%rbx
	ret
	.size saved, .-saved

	.globl saved_wrong
	.type saved_wrong, @function
saved_wrong:
	pushq	%rbx
	movl	%esi, %ebx
	call	thrice
	subl	%ebx, %eax
	popq	%rbx
	ret
	.size saved_wrong, .-saved_wrong
