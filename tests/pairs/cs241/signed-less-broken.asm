sltu $3, $1, $2
jr $31
