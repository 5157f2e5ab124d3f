; figure 8, written another way
add $4, $2, $1
jr $4
good:
add $3, $2, $1
jr $31
bad:
add $3, $1, $1
jr $31
