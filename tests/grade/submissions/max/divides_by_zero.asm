; Divides to find out which is larger.
        div  $1, $2
        mflo $4
        bne  $4, $0, first
        add  $3, $2, $0
        jr   $31
first:  add  $3, $1, $0
        jr   $31
