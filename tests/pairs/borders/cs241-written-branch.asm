; the same with a branch whose target is known: it ends behind the program
lis $4
.word 0x00201820   ; add $3, $1, $0
lis $5
.word 0x03e00008   ; jr $31
sw $4, 28($0)
sw $5, 32($0)
beq $0, $0, 0
