# Where code, tables of a linker and other things are: isoform places them somewhere, and nothing may follow from that.
        .text
        .macro begin name
        .globl \name
        .type \name, @function
\name:
        .endm
        .macro end name
        .size \name, . - \name
        .endm

        begin popped
        call    1f
1:      pop     %rax
        shr     $31, %rax
        ret
        end popped

        begin own_return
        call    helper
        ret
        end own_return
        .type helper, @function
helper: mov     (%rsp), %rax
        shr     $31, %rax
        ret
        end helper

        begin in_loop
        call    counted
        ret
        end in_loop
        .type counted, @function
counted:
        xor     %eax, %eax
1:      add     $1, %eax
        cmp     %edi, %eax
        jb      1b
        mov     (%rsp), %rax
        shr     $31, %rax
        ret
        end counted

        begin label
        lea     1f(%rip), %rax
1:      shr     $31, %rax
        ret
        end label

        begin slot
        lea     outside@GOTPCREL(%rip), %rax
        shr     $31, %rax
        ret
        end slot

        begin thread_slot
        lea     of_thread@TLSGD(%rip), %rax
        shr     $31, %rax
        ret
        end thread_slot

        begin part
        mov     half(%rip), %eax
        and     $16, %eax
        ret
        end part

        begin distance
        mov     apart(%rip), %eax
        shr     $31, %eax
        ret
        end distance

        begin word
        mov     place(%rip), %rax
        shr     $31, %rax
        ret
        end word
inner:  nop

        begin same_place
        call    1f
1:      pop     %rax
        lea     1b(%rip), %rcx
        sub     %rcx, %rax
        ret
        end same_place

        begin zero
        xor     %eax, %eax
        ret
        end zero

        begin one
        mov     $1, %eax
        ret
        end one

        .section .rodata
        .align 8
place:  .quad   inner
half:   .long   outside
apart:  .long   outside - .
        .section .note.GNU-stack, "", @progbits
