  add $3, $1, $2
  bne $2, 100, end
  add $3, $3, $2
end:
