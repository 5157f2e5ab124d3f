	.globl add, add_frame, add_long, add_saved, add_elsewhere
	.type add, @function
add:
	addw a0, a0, a1
	ret
	.size add, .-add
	.type add_frame, @function
add_frame:
	addi sp, sp, -16
	sd ra, 8(sp)
	sd s1, 0(sp)
	mv s1, a0
	li ra, 7
	addw a0, s1, a1
	ld s1, 0(sp)
	ld ra, 8(sp)
	addi sp, sp, 16
	ret
	.size add_frame, .-add_frame
	.type add_long, @function
add_long:
	add a0, a0, a1
	ret
	.size add_long, .-add_long
	.type add_saved, @function
add_saved:
	mv s1, a0
	addw a0, s1, a1
	ret
	.size add_saved, .-add_saved
	.type add_elsewhere, @function
add_elsewhere:
	addw a0, a0, a1
	addi ra, ra, 4
	ret
	.size add_elsewhere, .-add_elsewhere
	.globl rest_of_stack, no_rest, extended, as_returned
	.type rest_of_stack, @function
rest_of_stack:
	andi a0, sp, 15
	ret
	.size rest_of_stack, .-rest_of_stack
	.type no_rest, @function
no_rest:
	li a0, 0
	ret
	.size no_rest, .-no_rest
	.type extended, @function
extended:
	addi sp, sp, -16
	sd ra, 8(sp)
	call f
	sext.w a0, a0
	ld ra, 8(sp)
	addi sp, sp, 16
	ret
	.size extended, .-extended
	.type as_returned, @function
as_returned:
	addi sp, sp, -16
	sd ra, 8(sp)
	call f
	ld ra, 8(sp)
	addi sp, sp, 16
	ret
	.size as_returned, .-as_returned
