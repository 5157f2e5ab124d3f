; stores an instruction at the address that the input names, and jumps there
lis $4
.word 0x03e00008   ; jr $31
sw $4, 1024($1)
lis $6
.word 1024
add $6, $6, $1
jr $6
