; max compares as if there were no negative numbers
add $29, $31, $0
lis $10
.word max
jalr $10
lis $10
.word same
jalr $10
add $3, $3, $4
jr $29
max:
sltu $4, $2, $1
bne $4, $0, left
add $3, $2, $0
jr $31
left:
add $3, $1, $0
jr $31
same:
add $4, $0, $0
bne $1, $2, different
lis $4
.word 1
different:
jr $31
