	.globl unsigned_high, signed_high, shifted
	.type unsigned_high, @function
unsigned_high:
	li t0, 8
	mulhu a0, a0, t0
	ret
	.size unsigned_high, .-unsigned_high
	.type shifted, @function
shifted:
	srli a0, a0, 61
	ret
	.size shifted, .-shifted
	.type signed_high, @function
signed_high:
	li t0, 8
	mulh a0, a0, t0
	ret
	.size signed_high, .-signed_high
