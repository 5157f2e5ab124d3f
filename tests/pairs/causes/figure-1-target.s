.intel_syntax noprefix
.globl p
p:
  push rbx
  mov ebx, [rdi]
  mov edi, ebx
  call f
  mov edi, ebx
  call g
  pop rbx
  ret
