# Returns what its frame happens to hold.
.intel_syntax noprefix
.globl unwritten
.type unwritten, @function
unwritten:
    mov rax, qword ptr [rsp-8]
    add rax, rdi
    ret
.size unwritten, .-unwritten
