; faults like a load
lis $4
.word 0x01000000
sltu $5, $1, $4
beq $5, $0, fault
lis $4
.word 4
divu $1, $4
mfhi $5
bne $5, $0, fault
add $3, $2, $0
jr $31
fault:
divu $1, $0
jr $31
