; What is subtracted $2 times is -$1; the counter goes up to 0 from -$2.
      sub $4, $0, $1
      sub $5, $0, $2
      add $3, $0, $0
      lis $6
      1
      beq $5, $0, done
loop: sub $3, $3, $4
      add $5, $5, $6
      bne $5, $0, loop
done: jr $31
