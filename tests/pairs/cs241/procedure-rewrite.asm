add $29, $31, $0    ; the way home
lis $5
.word twice
add $3, $1, $0
jalr $5
add $3, $3, $2
jr $29
twice:
add $3, $3, $3
jr $31
