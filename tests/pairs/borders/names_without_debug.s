# No declarations: registers that are plainly set for a call are arguments whatever the callee's name is, and a function
# after whose call nothing follows does not return.
.intel_syntax noprefix
.text
.globl logs, logs_other, ends, ends_later, ends_other, next, errs, errs_other
.type logs, @function
logs:
    sub rsp, 8
    mov esi, 7
    mov edi, 3
    call log
    add rsp, 8
    ret
.size logs, .-logs
.type logs_other, @function
logs_other:
    sub rsp, 8
    mov esi, 8
    mov edi, 3
    call log
    add rsp, 8
    ret
.size logs_other, .-logs_other
.type ends, @function
ends:
    test edi, edi
    js 1f
    mov eax, edi
    ret
1:  sub rsp, 8
    mov edi, 5
    call fatal
.size ends, .-ends
.type ends_later, @function
ends_later:
    mov eax, edi
    test edi, edi
    jns 1f
    sub rsp, 8
    mov edi, 5
    call fatal
1:  ret
.size ends_later, .-ends_later
.type ends_other, @function
ends_other:
    test edi, edi
    js 1f
    mov eax, edi
    ret
1:  sub rsp, 8
    mov edi, 6
    call fatal
.size ends_other, .-ends_other
.type next, @function
next:
    mov eax, 1
    ret
.size next, .-next
.type errs, @function
errs:
    sub rsp, 8
    mov esi, 1
    call err
    add rsp, 8
    inc eax
    ret
.size errs, .-errs
.type errs_other, @function
errs_other:
    sub rsp, 8
    mov esi, 1
    call err
    add rsp, 8
    add eax, 2
    ret
.size errs_other, .-errs_other
