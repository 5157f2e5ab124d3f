; Counts down to exactly zero.
        lis  $4
        .word 1
        add  $3, $0, $0
        add  $5, $1, $0
loop:   beq  $5, $0, done
        add  $3, $3, $5
        sub  $5, $5, $4
        beq  $0, $0, loop
done:   jr   $31
