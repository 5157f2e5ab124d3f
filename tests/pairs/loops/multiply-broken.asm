; The first iteration does not add to 0.
      sub $4, $0, $1
      sub $5, $0, $2
      lis $6
      1
      add $3, $6, $0
      beq $5, $0, done
loop: sub $3, $3, $4
      add $5, $5, $6
      bne $5, $0, loop
done: jr $31
