lis $4
.word 0x1000
lis $5
.word 7
lis $6
.word 0xff8
slt $7, $4, $1
bne $7, $0, apart
slt $7, $6, $1
beq $7, $0, apart
divu $1, 4
mfhi $8
bne $8, $0, apart
sw $2, 0($1)
sw $5, 0($4)
lw $3, 0($4)
jr $31
apart:
add $3, $5, $0
jr $31
