.intel_syntax noprefix
.globl p
p:
  push rbx
  mov rbx, rdi
  cmp dword ptr [rbx], 42
  jne 1f
  mov edi, [rbx+4]
  call f
  jmp 2f
1:
  mov edi, [rbx+16]
  call g
2:
  mov eax, [rbx+32]
  pop rbx
  ret
