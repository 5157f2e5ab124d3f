# Without debug information: a bool of which one side takes the lowest bit and the other whether it is zero, in memory
# and in a structure {bool; int}; and a result of which one side happens to leave the other half in rdx as well.
	.text
	.globl memory_zero
	.type memory_zero, @function
memory_zero:
	movl	%esi, %eax
	cmpb	$0, (%rdi)
	jne	1f
	incl	%eax
1:	ret
	.size memory_zero, .-memory_zero

	.globl memory_bit
	.type memory_bit, @function
memory_bit:
	leal	1(%rsi), %eax
	testb	$1, (%rdi)
	cmovnel	%esi, %eax
	ret
	.size memory_bit, .-memory_bit

	.globl memory_more
	.type memory_more, @function
memory_more:
	leal	2(%rsi), %eax
	testb	$1, (%rdi)
	cmovnel	%esi, %eax
	ret
	.size memory_more, .-memory_more

	.globl structure_zero
	.type structure_zero, @function
structure_zero:
	movq	%rdi, %rax
	sarq	$32, %rax
	movl	%eax, %edx
	negl	%edx
	testb	%dil, %dil
	cmovel	%edx, %eax
	ret
	.size structure_zero, .-structure_zero

	.globl structure_bit
	.type structure_bit, @function
structure_bit:
	movq	%rdi, %rcx
	shrq	$32, %rcx
	movl	%ecx, %eax
	negl	%eax
	testb	$1, %dil
	cmovnel	%ecx, %eax
	ret
	.size structure_bit, .-structure_bit

	.globl structure_turned
	.type structure_turned, @function
structure_turned:
	movq	%rdi, %rcx
	shrq	$32, %rcx
	movl	%ecx, %eax
	negl	%eax
	testb	$1, %dil
	cmovel	%ecx, %eax
	ret
	.size structure_turned, .-structure_turned

	.globl high_half
	.type high_half, @function
high_half:
	movq	%rdi, %rax
	imulq	%rsi
	movq	%rdx, %rax
	ret
	.size high_half, .-high_half

	.globl high_half_extended
	.type high_half_extended, @function
high_half_extended:
	movq	%rdi, %rax
	imulq	%rsi
	movq	%rdx, %rax
	movq	%rax, %rdx
	sarq	$63, %rdx
	ret
	.size high_half_extended, .-high_half_extended

	.globl high_half_more
	.type high_half_more, @function
high_half_more:
	movq	%rdi, %rax
	imulq	%rsi
	leaq	1(%rdx), %rax
	movq	%rax, %rdx
	sarq	$63, %rdx
	ret
	.size high_half_more, .-high_half_more

# {bool; bool; int} and a pointer to a bool: one side adds the bytes, the other takes their lowest bits.
	.globl two_added
	.type two_added, @function
two_added:
	movzbl	%dil, %eax
	movq	%rdi, %rcx
	movzbl	%ch, %edx
	leal	(%rax,%rdx,2), %eax
	shrq	$32, %rcx
	addl	%ecx, %eax
	ret
	.size two_added, .-two_added

	.globl two_bits
	.type two_bits, @function
two_bits:
	movq	%rdi, %rcx
	shrq	$32, %rcx
	movl	%edi, %eax
	andl	$1, %eax
	shrl	$7, %edi
	andl	$2, %edi
	orl	%edi, %eax
	addl	%ecx, %eax
	ret
	.size two_bits, .-two_bits

	.globl two_shifted
	.type two_shifted, @function
two_shifted:
	movq	%rdi, %rcx
	shrq	$32, %rcx
	movl	%edi, %eax
	andl	$1, %eax
	shrl	$6, %edi
	andl	$4, %edi
	orl	%edi, %eax
	addl	%ecx, %eax
	ret
	.size two_shifted, .-two_shifted
