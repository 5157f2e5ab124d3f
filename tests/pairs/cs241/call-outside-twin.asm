; The address is not called.
lis $5
.word 0x03e00008
jr $31
