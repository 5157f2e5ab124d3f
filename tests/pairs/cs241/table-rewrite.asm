lis $4
.word 3
sltu $5, $1, $4
beq $5, $0, done
add $6, $1, 1
mult $6, 10
mflo $3
done:
jr $31
