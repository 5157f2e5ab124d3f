; accepts addresses that are no multiple of 4
lis $4
.word 0x01000000
sltu $5, $1, $4
beq $5, $0, fault
add $3, $2, $0
jr $31
fault:
divu $1, $0
jr $31
