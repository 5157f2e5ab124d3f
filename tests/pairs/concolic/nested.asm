; 1 if 10 < $1 < 20, $2 = 3 * $1 and $1 + $2 is 52, else 0
lis $4
.word 10
lis $5
.word 20
lis $6
.word 52
add $3, $0, $0
slt $7, $4, $1
beq $7, $0, end
slt $7, $1, $5
beq $7, $0, end
add $8, $1, $1
add $8, $8, $1
bne $8, $2, end
add $8, $1, $2
bne $8, $6, end
lis $3
.word 1
end:
jr $31
