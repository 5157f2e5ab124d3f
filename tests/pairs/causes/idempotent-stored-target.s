.intel_syntax noprefix
.globl p
p:
  push rbx
  mov rbx, rdi
  call initialise
  mov dword ptr [rbx], 5
  mov rdi, rbx
  call initialise
  add eax, 3
  pop rbx
  ret
