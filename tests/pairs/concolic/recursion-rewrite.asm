; 1 + 2 + ... + $1 by a procedure that calls itself
lis $20
.word 8
sltu $5, $1, $20
bne $5, $0, go
add $3, $0, $0
jr $31
go:
lis $4
.word 4
lis $11
.word 1
sub $30, $30, $4
sw $31, 0($30)
lis $10
.word sum
lis $10
.word sum
jalr $10
lw $31, 0($30)
add $30, $30, $4
jr $31
sum:
beq $1, $0, zero
sub $30, $30, $4
sw $31, 0($30)
sub $30, $30, $4
sw $1, 0($30)
sub $1, $1, $11
lis $10
.word sum
jalr $10
lw $1, 0($30)
add $30, $30, $4
lw $31, 0($30)
add $30, $30, $4
add $3, $3, $1
jr $31
zero:
add $3, $0, $0
jr $31
