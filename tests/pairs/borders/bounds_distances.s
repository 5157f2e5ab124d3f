# A table of distances from itself to numbers that lie beside it: no relocation shows what they are.
	.text
	.globl chosen
	.type chosen, @function
chosen:
	andl $1, %edi
	leaq table(%rip), %rax
	movslq (%rax,%rdi,4), %rdx
	movl (%rax,%rdx), %eax
	ret
	.size chosen, .-chosen
	.globl chosen_other
	.type chosen_other, @function
chosen_other:
	andl $1, %edi
	leaq table(%rip), %rax
	movslq (%rax,%rdi,4), %rdx
	movl (%rax,%rdx), %eax
	addl %edi, %eax
	ret
	.size chosen_other, .-chosen_other
	.section .rodata
	.p2align 4
	.type table, @object
	.size table, 8
table:
	.long one - table
	.long two - table
	.type one, @object
	.size one, 4
one:	.long 11
	.type two, @object
	.size two, 4
two:	.long 22
	.section .note.GNU-stack,"",@progbits
