; n * (n + 1) / 2, right where the product fits 32 bits and n is positive.
        lis  $4
        .word 1
        lis  $5
        .word 2
        add  $6, $1, $4
        mult $1, $6
        mflo $7
        div  $7, $5
        mflo $3
        jr   $31
