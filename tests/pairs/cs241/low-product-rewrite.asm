multu $2, $1
mflo $3
jr $31
