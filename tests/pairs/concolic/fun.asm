; the larger of the inputs, plus one if they are equal
slt $4, $1, $2
beq $4, $0, first
add $3, $2, $0
jr $31
first:
add $3, $1, $0
bne $1, $2, end
lis $5
.word 1
add $3, $3, $5
end:
jr $31
