lis $6
.word 0x03e0000c
jalr $6
add $3, $1, $2
jr $31
