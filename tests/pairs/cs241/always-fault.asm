div $1, $0
add $3, $1, $2
jr $31
