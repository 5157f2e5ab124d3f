; n * (n + 1) / 2, which overflows
    lis $4
    .word 1
    lis $8
    .word 2
    add $3, $0, $0
    slt $6, $1, $4
    bne $6, $0, end
    add $7, $1, $4
    mult $1, $7
    mflo $7
    div $7, $8
    mflo $3
end:
    jr $31
