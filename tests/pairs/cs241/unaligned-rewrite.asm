lis $4
.word 0x00fffff1
sw $1, 4($4)
jr $31
