.intel_syntax noprefix
.globl p
p:
  push rbx
  mov rbx, rdi
  cmp dword ptr [rbx], 42
  je 1f
  mov edi, [rbx+20]
  call g
  jmp 2f
1:
  mov edi, [rbx+8]
  call f
2:
  mov eax, [rbx+36]
  pop rbx
  ret
