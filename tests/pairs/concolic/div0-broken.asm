; answers 0 instead of dividing by zero
bne $1, $2, fine
add $3, $0, $0
jr $31
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
