divu $0, $31
add $3, $1, $2
jr $31
