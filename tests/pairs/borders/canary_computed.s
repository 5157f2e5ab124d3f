# The stack protector's canary by its name, and through an address that is computed.
	.text
	.globl named
	.type named, @function
named:
	movq	%fs:0x28, %rax
	ret
	.size named, .-named

	.globl computed
	.type computed, @function
computed:
	xorl	%eax, %eax
	movq	%fs:0x28(%rax), %rax
	ret
	.size computed, .-computed

	.globl next
	.type next, @function
next:
	movq	%fs:0x28, %rax
	incq	%rax
	ret
	.size next, .-next
