; divides in the other order, and by zero on purpose
bne $1, $2, fine
div $1, $0
fine:
lis $5
.word 3
div $1, $5
mflo $6
sub $4, $1, $2
lis $5
.word 100
div $5, $4
mflo $3
add $3, $6, $3
jr $31
