; Treats 0x7fffffff as "no number".
        lis  $6
        .word 0x7fffffff
        slt  $4, $1, $2
        bne  $4, $0, second
        beq  $1, $6, none
        add  $3, $1, $0
        jr   $31
none:   add  $3, $2, $0
        jr   $31
second: add  $3, $2, $0
        jr   $31
