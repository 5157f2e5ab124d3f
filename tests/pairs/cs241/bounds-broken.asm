lis $5
.word 4
divu $1, $5
mfhi $6
bne $6, $0, fault
lis $7
.word 0x00fffffc
sltu $8, $1, $7
beq $8, $0, fault
jr $31
fault:
div $0, $0
jr $31
