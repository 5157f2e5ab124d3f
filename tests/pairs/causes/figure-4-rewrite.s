.intel_syntax noprefix
.globl p
p:
  push rbx
  mov rax, [rdi]
  mov eax, [rax+8]
  test eax, eax
  jle 1f
  mov edi, eax
  call writeToFile
1:
  pop rbx
  ret
