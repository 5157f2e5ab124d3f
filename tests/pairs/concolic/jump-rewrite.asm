; jumps to one of two places, computed from the remainder
lis $4
.word 2
divu $1, $4
mfhi $5
lis $6
.word 12
mult $5, $6
mflo $5
lis $6
.word even
add $6, $6, $5
jr $6
even:
lis $3
.word 5
jr $31
odd:
lis $3
.word 6
jr $31
