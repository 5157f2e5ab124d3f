.intel_syntax noprefix
.globl p
p:
  push rbx
  call initialise
  add eax, 4
  pop rbx
  ret
