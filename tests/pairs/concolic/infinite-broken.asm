; never stops where $1 is 7 either, but differs at 8
lis $4
.word 8
add $3, $1, $2
bne $1, $4, end
add $3, $3, $1
end:
jr $31
