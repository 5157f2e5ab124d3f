div $1, $2
mflo $3
jr $31
