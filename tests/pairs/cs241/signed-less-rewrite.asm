lis $4
.word 0x80000000
add $5, $1, $4
add $6, $2, $4
sltu $3, $5, $6
jr $31
