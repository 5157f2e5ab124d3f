lis $4
.word 3
sltu $5, $1, $4
beq $5, $0, done
lis $6
.word table
add $7, $1, $1
add $7, $7, $7
add $7, $7, $6
lw $3, 0($7)
done:
jr $31
table:
.word 10
.word 20
.word 30
