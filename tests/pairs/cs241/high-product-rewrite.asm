multu $1, $2
mfhi $3
slt $4, $1, $0
beq $4, $0, other
sub $3, $3, $2
other:
slt $4, $2, $0
beq $4, $0, done
sub $3, $3, $1
done:
jr $31
