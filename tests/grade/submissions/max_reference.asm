; $3 = the larger of $1 and $2, signed.
        slt  $4, $1, $2
        bne  $4, $0, second
        add  $3, $1, $0
        jr   $31
second: add  $3, $2, $0
        jr   $31
