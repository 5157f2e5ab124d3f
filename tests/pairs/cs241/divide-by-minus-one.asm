div $1, -1
mflo $3
mfhi $4
add $3, $3, $4
