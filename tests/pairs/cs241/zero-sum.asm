; the sum of n times the word at 0x100000, which is zero
add $3, $0, $0
lis $4
.word 4
lis $5
.word 1
lis $7
.word 0x100000
loop: beq $2, $0, end
lw $6, 0($7)
add $3, $3, $6
sub $2, $2, $5
beq $0, $0, loop
end: jr $31
