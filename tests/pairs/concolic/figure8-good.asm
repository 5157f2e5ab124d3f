; figure 8 with another answer at good
add $4, $1, $2
jr $4
good:
add $3, $1, $1
jr $31
bad:
add $3, $1, $1
jr $31
