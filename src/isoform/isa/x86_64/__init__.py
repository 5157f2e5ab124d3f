"""x86-64: the integer, x87, SSE, AVX and AVX-512 instructions of user programs, and the System V calling convention."""
