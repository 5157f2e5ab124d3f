# What only assembly can say: flags, partial registers, upper halves, the stack, callee-saved registers.
        .intel_syntax noprefix
        .text
        .macro  entry name
        .globl  \name
        .type   \name, @function
\name:
        .endm
        .macro  leave_function name
        ret
        .size   \name, .-\name
        .endm

# int maximum(int x, int y): branch, conditional move, and the comparison that is not signed.
        entry   maximum
        mov     eax, edi
        cmp     edi, esi
        jge     1f
        mov     eax, esi
1:      leave_function maximum
        entry   maximum_rewrite
        mov     eax, esi
        cmp     edi, esi
        cmovge  eax, edi
        leave_function maximum_rewrite
        entry   maximum_broken
        mov     eax, esi
        cmp     edi, esi
        cmovae  eax, edi
        leave_function maximum_broken

# int nonzero(int x): setcc, the borrow of neg, and a test of all 64 bits of the argument register.
        entry   nonzero
        xor     eax, eax
        test    edi, edi
        setne   al
        leave_function nonzero
        entry   nonzero_rewrite
        neg     edi
        sbb     eax, eax
        neg     eax
        leave_function nonzero_rewrite
        entry   nonzero_broken
        xor     eax, eax
        test    rdi, rdi
        setne   al
        leave_function nonzero_broken
# Only al is set: right for bool, not for int.
        entry   nonzero_byte
        test    edi, edi
        setne   al
        leave_function nonzero_byte

# int increment(int x): the upper half of the argument may go into the upper half of the result, no further.
        entry   increment
        lea     eax, [rdi + 1]
        leave_function increment
        entry   increment_rewrite
        lea     rax, [rdi + 1]
        leave_function increment_rewrite
        entry   increment_broken
        lea     rax, [rdi + 1]
        test    rax, rax
        jns     1f
        xor     eax, eax
1:      leave_function increment_broken

# int low_byte(int x): writes al, reads eax.
        entry   low_byte
        mov     eax, edi
        and     eax, 0xffffff00
        or      eax, 5
        leave_function low_byte
        entry   low_byte_rewrite
        mov     eax, edi
        mov     al, 5
        leave_function low_byte_rewrite
        entry   low_byte_broken
        mov     eax, edi
        mov     eax, 5
        leave_function low_byte_broken

# unsigned swap_halves(unsigned x): al and ah exchanged; the upper 16 bits stay.
        entry   swap_halves
        mov     eax, edi
        xchg    al, ah
        leave_function swap_halves
        entry   swap_halves_rewrite
        mov     eax, edi
        rol     ax, 8
        leave_function swap_halves_rewrite
        entry   swap_halves_broken
        mov     eax, edi
        rol     eax, 8
        leave_function swap_halves_broken

# unsigned shift(unsigned x, unsigned n): the machine uses n mod 32.
        entry   shift
        mov     eax, edi
        mov     ecx, esi
        shl     eax, cl
        leave_function shift
        entry   shift_rewrite
        mov     eax, edi
        mov     ecx, esi
        and     ecx, 31
        jz      1f
2:      shl     eax, cl
1:      leave_function shift_rewrite
        entry   shift_broken
        xor     eax, eax
        cmp     esi, 32
        jae     1f
        mov     eax, edi
        mov     ecx, esi
        shl     eax, cl
1:      leave_function shift_broken

# unsigned trailing(unsigned x): bsf leaves its destination alone at zero, tzcnt gives 32.
        entry   trailing
        mov     eax, 32
        bsf     eax, edi
        leave_function trailing
        entry   trailing_rewrite
        tzcnt   eax, edi
        leave_function trailing_rewrite
        entry   trailing_broken
        mov     eax, 31
        bsf     eax, edi
        leave_function trailing_broken
        entry   leading
        bsr     eax, edi
        leave_function leading
        entry   leading_rewrite
        lzcnt   ecx, edi
        mov     eax, 31
        sub     eax, ecx
        leave_function leading_rewrite

# Flags that the manual leaves open.
        entry   undefined_flag
        mov     eax, edi
        shl     eax, 5
        seto    al
        movzx   eax, al
        leave_function undefined_flag
        entry   undefined_flag_rewrite
        xor     eax, eax
        leave_function undefined_flag_rewrite
        entry   undefined_flag_other
        mov     eax, edi
        shl     eax, 5
        seto    al
        movzx   eax, al
        leave_function undefined_flag_other
        entry   undefined_flag_broken
        mov     eax, 2
        leave_function undefined_flag_broken
# The same flag, overwritten before it is read.
        entry   defined_flag
        mov     eax, edi
        shl     eax, 5
        add     edi, edi
        seto    al
        movzx   eax, al
        leave_function defined_flag
        entry   defined_flag_rewrite
        lea     eax, [rdi + rdi]
        xor     eax, edi
        shr     eax, 31
        leave_function defined_flag_rewrite
        entry   defined_flag_broken
        mov     eax, edi
        shr     eax, 31
        leave_function defined_flag_broken

# A shift by zero leaves the flags of the comparison before it.
        entry   kept_flags
        mov     ecx, 32
        cmp     edi, esi
        shl     eax, cl
        setl    al
        movzx   eax, al
        leave_function kept_flags
        entry   kept_flags_rewrite
        xor     eax, eax
        cmp     edi, esi
        setl    al
        leave_function kept_flags_rewrite
        entry   kept_flags_broken
        xor     eax, eax
        cmp     edi, esi
        setle   al
        leave_function kept_flags_broken

# long through_stack(long x, long y): the red zone, push and pop, and registers that must be restored.
        entry   through_stack
        lea     rax, [rdi + 2*rsi]
        leave_function through_stack
        entry   through_stack_red_zone
        mov     [rsp - 8], rdi
        mov     [rsp - 128], rsi
        mov     rax, [rsp - 128]
        add     rax, rax
        add     rax, [rsp - 8]
        leave_function through_stack_red_zone
        entry   through_stack_saved
        push    rbx
        push    rbp
        mov     rbp, rsp
        mov     rbx, rsi
        add     rbx, rbx
        lea     rax, [rbx + rdi]
        leave
        pop     rbx
        leave_function through_stack_saved
        entry   through_stack_clobbered
        mov     rbx, rsi
        add     rbx, rbx
        lea     rax, [rbx + rdi]
        leave_function through_stack_clobbered
        entry   through_stack_exchanged
        push    rbx
        push    rbp
        mov     rbx, rsi
        add     rbx, rbx
        lea     rax, [rbx + rdi]
        pop     rbx
        pop     rbp
        leave_function through_stack_exchanged
        entry   through_stack_unbalanced
        push    rsi
        lea     rax, [rdi + 2*rsi]
        leave_function through_stack_unbalanced
        entry   through_stack_popped
        lea     rax, [rdi + 2*rsi]
        pop     rcx
        jmp     rcx
        .size   through_stack_popped, .-through_stack_popped
        entry   through_stack_popping
        lea     rax, [rdi + 2*rsi]
        pop     rcx
        add     rsp, 8
        jmp     rcx
        .size   through_stack_popping, .-through_stack_popping
# Reads a slot that it never wrote.
        entry   through_stack_unwritten
        mov     [rsp - 8], rdi
        mov     rax, [rsp - 16]
        leave_function through_stack_unwritten

# int tail(int x): a jump to outside code is a call and a return.
        entry   tail
        sub     rsp, 8
        add     edi, 1
        call    outside@PLT
        add     rsp, 8
        leave_function tail
        entry   tail_rewrite
        inc     edi
        jmp     outside@PLT
        .size   tail_rewrite, .-tail_rewrite
        entry   tail_broken
        jmp     outside@PLT
        .size   tail_broken, .-tail_broken
# rdi is not what it was once outside code has run.
        entry   kept_over_call
        push    rbx
        mov     ebx, edi
        call    outside@PLT
        add     eax, ebx
        pop     rbx
        leave_function kept_over_call
        entry   kept_over_call_rewrite
        push    rdi
        call    outside@PLT
        pop     rcx
        add     eax, ecx
        leave_function kept_over_call_rewrite
        entry   kept_over_call_broken
        push    rbx
        call    outside@PLT
        add     eax, edi
        pop     rbx
        leave_function kept_over_call_broken

# unsigned long rotate_through(unsigned long x): rotates, double shifts, bswap.
        entry   rotate_eight
        mov     rax, rdi
        rol     rax, 8
        leave_function rotate_eight
        entry   rotate_eight_rewrite
        mov     rax, rdi
        shld    rax, rdi, 8
        leave_function rotate_eight_rewrite
        entry   rotate_eight_broken
        mov     rax, rdi
        shrd    rax, rdi, 8
        leave_function rotate_eight_broken

# unsigned bits(unsigned x, unsigned n): bit test and set against a shifted one.
        entry   set_bit
        mov     eax, edi
        bts     eax, esi
        leave_function set_bit
        entry   set_bit_rewrite
        mov     ecx, esi
        mov     eax, 1
        shl     eax, cl
        or      eax, edi
        leave_function set_bit_rewrite
        entry   set_bit_broken
        mov     ecx, esi
        mov     eax, 1
        rol     eax, cl
        xor     eax, edi
        leave_function set_bit_broken

# unsigned long carry_chain(unsigned long a, unsigned long b, unsigned long c): high half of a sum of three.
        entry   carry_chain
        xor     eax, eax
        add     rdi, rsi
        adc     rax, 0
        add     rdi, rdx
        adc     rax, 0
        leave_function carry_chain
        entry   carry_chain_rewrite
        xor     ecx, ecx
        xor     eax, eax
        add     rsi, rdx
        setc    al
        add     rsi, rdi
        setc    cl
        add     eax, ecx
        leave_function carry_chain_rewrite
        entry   carry_chain_broken
        xor     ecx, ecx
        xor     eax, eax
        add     rsi, rdx
        setc    al
        add     rsi, rdi
        setc    cl
        or      eax, ecx
        leave_function carry_chain_broken

# unsigned repeat(unsigned *p): a string instruction of fixed count against four stores.
        entry   fill_four
        mov     eax, 7
        mov     ecx, 4
        rep stosd
        leave_function fill_four
        entry   fill_four_rewrite
        mov     eax, 7
        mov     [rdi + 12], eax
        mov     [rdi], eax
        mov     [rdi + 8], eax
        mov     [rdi + 4], eax
        leave_function fill_four_rewrite
        entry   fill_four_broken
        mov     eax, 7
        mov     [rdi + 12], eax
        mov     [rdi], eax
        mov     [rdi + 8], eax
        leave_function fill_four_broken

# int cleared(void): all that counts is that eax is zero.
        entry   cleared
        mov     eax, 0
        leave_function cleared
        entry   cleared_rewrite
        sub     eax, eax
        leave_function cleared_rewrite
        entry   cleared_broken
        sbb     eax, eax
        leave_function cleared_broken
        .section .note.GNU-stack,"",@progbits
