; the fault that a computed jump leads to is written over before it is reached
lis $5
.word 0x03e00008   ; jr $31
add $7, $2, $0
add $6, $1, $0
sw $5, 0($7)
lis $8
.word bad
bne $6, $8, bad2
jr $6
bad2:
div $0, $0
bad:
div $0, $0
