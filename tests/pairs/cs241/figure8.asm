add $4, $1, $2
jr $4
good:
add $3, $1, $2
jr $31 # $31 holds where the program ends
bad:
add $3, $1, $1
jr $31
