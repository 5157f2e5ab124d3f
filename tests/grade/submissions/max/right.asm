; Takes $2 unless $1 is greater.
        add  $3, $2, $0
        slt  $5, $2, $1
        beq  $5, $0, done
        add  $3, $1, $0
done:   jr   $31
