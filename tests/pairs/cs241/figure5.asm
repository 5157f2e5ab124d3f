  bne $1, 42, end
  add $3, $3, $0
end:
  add $3, $1, $2
