lis $4
.word 0x1000
bne $1, $4, apart
add $3, $2, $0
jr $31
apart:
lis $3
.word 7
jr $31
