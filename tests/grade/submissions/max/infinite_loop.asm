; Waits for the two to become equal.
again:  bne  $1, $2, again
        add  $3, $1, $0
        jr   $31
