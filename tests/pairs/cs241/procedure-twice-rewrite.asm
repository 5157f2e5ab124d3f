sw $31, -4($30)
lis $5
.word twice
add $3, $1, $0
jalr $5
jalr $5
add $3, $3, $2
lw $31, -4($30)
jr $31
twice:
add $3, $3, $3
jr $31
