; adds in a loop
lis $4
.word 21
sltu $5, $1, $4
beq $5, $0, other
lis $6
.word 1
add $3, $0, $0
add $8, $1, $0
loop:
beq $8, $0, end
add $3, $3, $8
sub $8, $8, $6
beq $0, $0, loop
end:
jr $31
other:
add $3, $2, $0
jr $31
