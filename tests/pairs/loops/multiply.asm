; $3 = $1 * $2: $1 is added $2 times, $2 without sign.
      add $3, $0, $0
      lis $5
      1
loop: beq $2, $0, done
      add $3, $3, $1
      sub $2, $2, $5
      beq $0, $0, loop
done: jr $31
