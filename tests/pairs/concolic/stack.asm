; ($1 - $2) * 2 where $1 < $2, else $1 - $2
sub $3, $1, $2
slt $4, $1, $2
beq $4, $0, end
add $3, $3, $3
end:
jr $31
