# kill(pid, sig): two arguments, of which the kernel reads the low halves.
	.globl plain
	.type plain, @function
plain:
	movl $62, %eax
	syscall
	ret
	.size plain, .-plain

	.globl with_leftovers
	.type with_leftovers, @function
with_leftovers:
	movslq %edi, %rdi
	movl %esi, %esi
	leal 7(%rdi), %edx
	xorl %r10d, %r10d
	movl $62, %eax
	syscall
	ret
	.size with_leftovers, .-with_leftovers

	.globl other_signal
	.type other_signal, @function
other_signal:
	movl $62, %eax
	movslq %edi, %rdi
	movzbl %sil, %esi
	syscall
	ret
	.size other_signal, .-other_signal

# A call that is not listed may read every register.
	.globl unlisted
	.type unlisted, @function
unlisted:
	movl $999, %eax
	syscall
	ret
	.size unlisted, .-unlisted

	.globl unlisted_leftovers
	.type unlisted_leftovers, @function
unlisted_leftovers:
	leal 7(%rdi), %edx
	movl $999, %eax
	syscall
	ret
	.size unlisted_leftovers, .-unlisted_leftovers
