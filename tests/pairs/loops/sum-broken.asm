; The test for 0 comes one iteration too early.
      add $3, $0, $0
      slt $6, $0, $1
      beq $6, $0, done
      lis $7
      1
      add $2, $7, $0
loop: add $3, $3, $2
      sub $1, $1, $7
      beq $1, $7, done
      add $2, $2, $7
      bne $1, $0, loop
done: jr $31
