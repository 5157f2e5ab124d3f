; By pointer, and the number of words left.
      add $3, $0, $0
      lis $5
      1
      lis $6
      4
      slt $7, $0, $2
      beq $7, $0, done
loop: lw $9, 0($1)
      add $3, $3, $9
      add $1, $1, $6
      sub $2, $2, $5
      bne $2, $0, loop
done: jr $31
