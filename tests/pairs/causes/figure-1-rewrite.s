.intel_syntax noprefix
.globl p
p:
  push rbx
  mov rbx, rdi
  mov edi, [rbx]
  call f
  mov edi, [rbx]
  call g
  pop rbx
  ret
