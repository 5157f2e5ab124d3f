; $3 = the sum of the $2 words from $1 on, by index.
      add $3, $0, $0
      add $4, $0, $0
      lis $5
      1
      lis $6
      4
loop: slt $7, $4, $2
      beq $7, $0, done
      mult $4, $6
      mflo $8
      add $8, $8, $1
      lw $9, 0($8)
      add $3, $3, $9
      add $4, $4, $5
      beq $0, $0, loop
done: jr $31
