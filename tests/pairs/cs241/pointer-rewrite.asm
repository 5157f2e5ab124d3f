; the same from the register that was stored
sw $2, 0($1)
add $4, $2, $2
sw $4, 4($1)
add $3, $4, $2
jr $31
