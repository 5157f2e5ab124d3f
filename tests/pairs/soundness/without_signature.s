# No debug information: whether there is a result must be found out from the code.
.intel_syntax noprefix
.globl plus_one
.type plus_one, @function
plus_one:
    sub rsp, 8
    call outside
    add rax, 1
    add rsp, 8
    ret
.size plus_one, .-plus_one
.globl plus_one_rewrite
.type plus_one_rewrite, @function
plus_one_rewrite:
    push rbx
    call outside
    lea rax, [rax+1]
    pop rbx
    ret
.size plus_one_rewrite, .-plus_one_rewrite
.globl plus_one_broken
.type plus_one_broken, @function
plus_one_broken:
    sub rsp, 8
    call outside
    add rax, 2
    add rsp, 8
    ret
.size plus_one_broken, .-plus_one_broken
