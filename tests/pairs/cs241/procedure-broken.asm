add $29, $31, $0
lis $5
.word twice
add $3, $1, $2
jalr $5
jr $29
twice:
add $3, $3, $3
jr $31
