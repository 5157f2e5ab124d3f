lis $4
.word 2
slt $5, $1, $0
bne $5, $0, negative
divu $1, $4
mflo $3
jr $31
negative:
sub $6, $0, $1
divu $6, $4
mflo $3
sub $3, $0, $3
jr $31
