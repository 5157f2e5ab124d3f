; stores in one place and jumps to another, where there are only zeros
lis $6
.word 4096
sw $1, 0($6)
lis $7
.word 8192
add $7, $7, $6
jr $7
