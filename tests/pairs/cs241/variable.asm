lis $4
.word variable
lw $5, 0($4)
add $5, $5, $1
sw $5, 0($4)
lw $3, 0($4)
jr $31
variable: .word 5
