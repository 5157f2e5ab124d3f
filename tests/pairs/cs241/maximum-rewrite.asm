beq $1, $2, same
slt $4, $2, $1
beq $4, $0, second
same: first: add $3, $1, $0
beq $0, $0, end
second: add $3, $2, $0
end:
