; Forgets that the two may be equal.
        slt  $4, $1, $2
        bne  $4, $0, second
        slt  $4, $2, $1
        bne  $4, $0, first
        add  $3, $0, $0
        jr   $31
first:  add  $3, $1, $0
        jr   $31
second: add  $3, $2, $0
        jr   $31
