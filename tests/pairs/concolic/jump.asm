; 5 for even $1, else 6
lis $4
.word 2
divu $1, $4
mfhi $5
lis $3
.word 5
add $3, $3, $5
jr $31
