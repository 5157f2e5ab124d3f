# Returns what its frame happens to hold.
.intel_syntax noprefix
.globl unwritten
.type unwritten, @function
unwritten:
    mov rax, qword ptr [rsp-8]
    add rax, rdi
    ret
.size unwritten, .-unwritten

# Ends otherwise, whatever the frame holds.
.globl unwritten_aborts
.type unwritten_aborts, @function
unwritten_aborts:
    ud2
.size unwritten_aborts, .-unwritten_aborts
