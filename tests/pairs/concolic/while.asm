; 1 + 2 + ... + $1 for $1 up to 20, else $2
lis $4
.word 21
sltu $5, $1, $4
beq $5, $0, other
lis $6
.word 1
add $7, $1, $6
mult $1, $7
mflo $3
lis $6
.word 2
div $3, $6
mflo $3
jr $31
other:
add $3, $2, $0
jr $31
