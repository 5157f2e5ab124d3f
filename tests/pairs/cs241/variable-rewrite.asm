add $3, $1, 5
jr $31
