add $3, $1, $2
slt $4, $1, $2
lis $5
1
beq $4, $5, skip
add $3, $3, $1
skip:
