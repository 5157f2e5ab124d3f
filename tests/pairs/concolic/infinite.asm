; $1 + $2 unless $1 is 7: then it never stops
lis $4
.word 7
beq $1, $4, forever
add $3, $1, $2
jr $31
forever:
beq $0, $0, forever
