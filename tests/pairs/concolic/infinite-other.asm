; $1 + $2, also for 7
add $3, $1, $2
jr $31
