; An array of $1 numbers (64 at most) from 0x8000 on, $2 + 3 * i in place i; then its sum.
      lis $4
      0x8000
      lis $5
      1
      lis $6
      4
      lis $7
      64
      sltu $8, $7, $1
      beq $8, $0, small
      add $1, $7, $0
small: add $9, $0, $0
fill: beq $9, $1, filled
      add $10, $9, $9
      add $10, $10, $9
      add $10, $10, $2
      mult $9, $6
      mflo $11
      add $11, $11, $4
      sw $10, 0($11)
      add $9, $9, $5
      beq $0, $0, fill
filled: add $3, $0, $0
      add $9, $0, $0
sum:  beq $9, $1, done
      mult $9, $6
      mflo $11
      add $11, $11, $4
      lw $10, 0($11)
      add $3, $3, $10
      add $9, $9, $5
      beq $0, $0, sum
done: jr $31
