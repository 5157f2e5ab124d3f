# Counts up to its argument.
.intel_syntax noprefix
.globl counts
.type counts, @function
counts:
    xor eax, eax
1:  cmp eax, edi
    jae 2f
    inc eax
    jmp 1b
2:  ret
.size counts, .-counts

.globl copies
.type copies, @function
copies:
    mov eax, edi
    ret
.size copies, .-copies
.section .note.GNU-stack,"",@progbits
