; the test at the end, another order, another counter
    lis $8
    .word 1
    add $3, $0, $0
    add $10, $0, $8
    slt $9, $0, $1
    beq $9, $0, out
top:
    add $3, $3, $10
    slt $9, $10, $1
    add $10, $10, $8
    bne $9, $0, top
out:
    jr $31
