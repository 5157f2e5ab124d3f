multu $2, $1
mfhi $3
jr $31
