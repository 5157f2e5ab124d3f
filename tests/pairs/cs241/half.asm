lis $4
.word 2
div $1, $4
mflo $3
jr $31
