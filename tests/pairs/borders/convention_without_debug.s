# Calls of an undeclared function whose arguments are in rcx and rdx.
	.text
	.globl asks
	.type asks, @function
asks:
	pushq %rbx
	movq %rsi, %rbx
	pushq %rdi
	subq $8, %rsp
	call prepare
	addq $8, %rsp
	popq %rcx
	movq %rbx, %rdx
	subq $32, %rsp
	call ask
	addq $32, %rsp
	popq %rbx
	ret
	.size asks, .-asks
	.globl asks_swapped
	.type asks_swapped, @function
asks_swapped:
	pushq %rbx
	movq %rsi, %rbx
	pushq %rdi
	subq $8, %rsp
	call prepare
	addq $8, %rsp
	popq %rdx
	movq %rbx, %rcx
	subq $32, %rsp
	call ask
	addq $32, %rsp
	popq %rbx
	ret
	.size asks_swapped, .-asks_swapped
	.section .note.GNU-stack,"",@progbits
