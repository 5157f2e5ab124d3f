; Puts the answer in $4.
        add  $4, $1, $0
        jr   $31
