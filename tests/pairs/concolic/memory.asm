; the word at $1, which is 0 unless it is one of the program
lw $3, 0($1)
sub $3, $3, $3
add $3, $3, $2
jr $31
