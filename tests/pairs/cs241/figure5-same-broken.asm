  add $3, $1, $2
  bne $2, 0x80000000, end
  add $3, $3, 1
end:
