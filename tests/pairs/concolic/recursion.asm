; 1 + 2 + ... + $1 for $1 up to 7, else 0
lis $20
.word 8
sltu $5, $1, $20
bne $5, $0, go
add $3, $0, $0
jr $31
go:
lis $4
.word 1
add $3, $0, $0
loop:
beq $1, $0, end
add $3, $3, $1
sub $1, $1, $4
beq $0, $0, loop
end:
jr $31
