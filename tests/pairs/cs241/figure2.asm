add $4, $0, 1   # counter
add $5, $0, 42  # upper bound
loop:
    slt $6, $4, $5
    beq $6, $0, end
    add $4, $4, 1
    beq $0, $0, loop
end:
add $3, $1, $1
