.intel_syntax noprefix
.globl p
p:
  push rbx
  call initialise
  add eax, 3
  pop rbx
  ret
