lis $0
.word 99
add $3, $1, $0
jr $31
