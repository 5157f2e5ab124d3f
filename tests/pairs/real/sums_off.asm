    add $3, $0, $0
    lis $4
    .word 1
    add $5, $4, $0
loop:
    slt $6, $5, $1
    beq $6, $0, done
    add $3, $3, $5
    add $5, $5, $4
    beq $0, $0, loop
done:
    jr $31
