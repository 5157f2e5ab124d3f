; stores `add $3, $1, $0` and `jr $31` behind its own end and jumps there
lis $4
.word 0x00201820   ; add $3,$1,$0
lis $5
.word 0x03e00008   ; jr $31
lis $6
.word 4096
sw $4, 0($6)
sw $5, 4($6)
jr $6
