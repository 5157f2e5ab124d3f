	.globl plain, checked, checked_broken
	.type plain, @function
plain:
	div a0, a0, a1
	ret
	.size plain, .-plain
	.type checked, @function
checked:
	beqz a1, 1f
	li t0, -1
	bne a1, t0, 2f
	neg a0, a0
	ret
1:	li a0, -1
	ret
2:	div a0, a0, a1
	ret
	.size checked, .-checked
	.type checked_broken, @function
checked_broken:
	beqz a1, 1f
	div a0, a0, a1
	ret
1:	li a0, 0
	ret
	.size checked_broken, .-checked_broken
