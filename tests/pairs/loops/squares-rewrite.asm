; With a pointer in place of the index, and the squares as sums of odd numbers.
      lis $4
      0x8000
      lis $5
      2
      lis $6
      4
      lis $7
      64
      sltu $8, $7, $1
      beq $8, $0, small
      add $1, $7, $0
small: mult $1, $6
      mflo $12
      add $12, $12, $4
      add $9, $4, $0
      lis $11
      1
      add $10, $2, $0
fill: beq $9, $12, filled
      sw $10, 0($9)
      add $10, $10, $11
      add $11, $11, $5
      add $9, $9, $6
      beq $0, $0, fill
filled: add $3, $0, $0
      add $9, $4, $0
sum:  beq $9, $12, done
      lw $10, 0($9)
      add $3, $3, $10
      add $9, $9, $6
      beq $0, $0, sum
done: jr $31
