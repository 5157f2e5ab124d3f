; the same through the stack: both inputs and the difference are pushed and popped
lis $4
.word 4
sub $30, $30, $4
sw $1, 0($30)
sub $30, $30, $4
sw $2, 0($30)
lw $5, 4($30)
lw $6, 0($30)
sub $7, $5, $6
sub $30, $30, $4
sw $7, 0($30)
slt $8, $5, $6
beq $8, $0, once
lw $9, 0($30)
add $9, $9, $9
sw $9, 0($30)
once:
lw $3, 0($30)
add $30, $30, $4
add $30, $30, $4
add $30, $30, $4
jr $31
