lis $5
.word 1
loop: beq $2, $0, end
sub $2, $2, $5
beq $0, $0, loop
end: add $3, $0, $0
jr $31
