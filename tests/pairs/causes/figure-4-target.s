.intel_syntax noprefix
.globl p
p:
  push rbx
  mov rdi, [rdi]
  call getLength
  test eax, eax
  jle 1f
  mov edi, eax
  call writeToFile
1:
  pop rbx
  ret
