; $3 = 1 + 2 + ... + $1, and 0 where $1 is not positive: i counts up.
      add $3, $0, $0
      add $4, $0, $0
      lis $5
      1
loop: slt $6, $4, $1
      beq $6, $0, done
      add $4, $4, $5
      add $3, $3, $4
      beq $0, $0, loop
done: jr $31
