; Forgets to count.
        add  $3, $0, $0
        add  $5, $1, $0
loop:   slt  $6, $0, $5
        beq  $6, $0, done
        add  $3, $3, $5
        beq  $0, $0, loop
done:   jr   $31
