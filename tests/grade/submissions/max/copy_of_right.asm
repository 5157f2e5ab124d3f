# The same program with other names.
start:
  add $3, $2, $0

  slt $5, $2, $1
  beq $5, $0, finish
  add $3, $1, $0
finish:
  jr $31
