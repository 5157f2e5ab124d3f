# nodebug.c, by gcc -O2 -g0 -S
	.file	"nodebug.c"
	.text
	.p2align 4
	.globl	plus_one
	.type	plus_one, @function
plus_one:
	addsd	.LC0(%rip), %xmm0
	ret
	.size	plus_one, .-plus_one
	.p2align 4
	.globl	one_plus
	.type	one_plus, @function
one_plus:
	addsd	.LC0(%rip), %xmm0
	ret
	.size	one_plus, .-one_plus
	.p2align 4
	.globl	plus_two
	.type	plus_two, @function
plus_two:
	addsd	.LC1(%rip), %xmm0
	ret
	.size	plus_two, .-plus_two
	.p2align 4
	.globl	both
	.type	both, @function
both:
	addsd	%xmm1, %xmm1
	addsd	.LC0(%rip), %xmm0
	ret
	.size	both, .-both
	.p2align 4
	.globl	both_again
	.type	both_again, @function
both_again:
	addsd	%xmm1, %xmm1
	addsd	.LC0(%rip), %xmm0
	ret
	.size	both_again, .-both_again
	.p2align 4
	.globl	both_wrong
	.type	both_wrong, @function
both_wrong:
	unpcklpd	%xmm1, %xmm0
	addpd	.LC2(%rip), %xmm0
	movaps	%xmm0, -24(%rsp)
	movsd	-16(%rsp), %xmm1
	movsd	-24(%rsp), %xmm0
	ret
	.size	both_wrong, .-both_wrong
	.p2align 4
	.globl	wide
	.type	wide, @function
wide:
	movl	$1, %eax
	mulq	%rdi
	addq	%rdi, %rdx
	ret
	.size	wide, .-wide
	.p2align 4
	.globl	wide_again
	.type	wide_again, @function
wide_again:
	movl	$1, %eax
	mulq	%rdi
	addq	%rdi, %rdx
	ret
	.size	wide_again, .-wide_again
	.p2align 4
	.globl	wide_wrong
	.type	wide_wrong, @function
wide_wrong:
	movq	%rdi, %rax
	leaq	1(%rdi), %rdx
	ret
	.size	wide_wrong, .-wide_wrong
	.p2align 4
	.globl	next
	.type	next, @function
next:
	leal	1(%rsi,%rsi,2), %eax
	movl	%eax, (%rdi)
	movl	8(%rdi), %eax
	subl	%esi, %eax
	movl	%eax, 4(%rdi)
	ret
	.size	next, .-next
	.p2align 4
	.globl	next_wrong
	.type	next_wrong, @function
next_wrong:
	leal	1(%rsi,%rsi,2), %eax
	addl	8(%rdi), %esi
	movl	%eax, (%rdi)
	movl	%esi, 4(%rdi)
	ret
	.size	next_wrong, .-next_wrong
	.p2align 4
	.globl	sum
	.type	sum, @function
sum:
	leal	(%rsi,%rdi), %eax
	ret
	.size	sum, .-sum
	.p2align 4
	.globl	sum_wrong
	.type	sum_wrong, @function
sum_wrong:
	leal	1(%rsi,%rdi), %eax
	ret
	.size	sum_wrong, .-sum_wrong
	.p2align 4
	.globl	keep
	.type	keep, @function
keep:
	addsd	.LC0(%rip), %xmm0
	movsd	%xmm0, (%rdi)
	ret
	.size	keep, .-keep
	.p2align 4
	.globl	keep_wrong
	.type	keep_wrong, @function
keep_wrong:
	movsd	.LC0(%rip), %xmm1
	addsd	%xmm0, %xmm1
	movsd	%xmm1, (%rdi)
	ret
	.size	keep_wrong, .-keep_wrong
	.set	.LC0,.LC2
	.set	.LC1,.LC2+8
	.section	.rodata.cst16,"aM",@progbits,16
	.align 16
.LC2:
	.long	0
	.long	1072693248
	.long	0
	.long	1073741824
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
