; A call of an address where there is no program.
lis $5
.word 0x03e00008
jalr $5
jr $31
