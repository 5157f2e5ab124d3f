; Looks at the sign of a difference, which overflows for numbers far apart.
        sub  $4, $1, $2
        slt  $5, $4, $0
        bne  $5, $0, second
        add  $3, $1, $0
        jr   $31
second: add  $3, $2, $0
        jr   $31
