; Uses an instruction of the real MIPS.
        slt  $4, $1, $2
        bne  $4, $0, second
        add  $3, $1, $0
        jr   $31

        move $3, $2
second: jr   $31
