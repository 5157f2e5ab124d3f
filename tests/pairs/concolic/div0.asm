; 100 / ($1 - $2) + $1 / 3
sub $4, $1, $2
lis $5
.word 100
div $5, $4
mflo $3
lis $5
.word 3
div $1, $5
mflo $6
add $3, $3, $6
jr $31
