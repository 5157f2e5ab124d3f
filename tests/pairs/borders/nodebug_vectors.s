        .intel_syntax noprefix
# Results in vector registers, as code without debug information shows them.
        .globl add_eight
        .type add_eight, @function
add_eight:
        vpaddd ymm0, ymm0, ymmword ptr [rip + eight]
        ret
        .size add_eight, .-add_eight
        .globl add_eight_other
        .type add_eight_other, @function
add_eight_other:
        vpaddd ymm0, ymm0, ymmword ptr [rip + eight_other]
        ret
        .size add_eight_other, .-add_eight_other
        .globl second_of_two
        .type second_of_two, @function
second_of_two:
        vmovaps ymm0, ymm1
        ret
        .size second_of_two, .-second_of_two
        .globl half_of_two
        .type half_of_two, @function
half_of_two:
        vpblendd ymm0, ymm1, ymm2, 0xf0
        ret
        .size half_of_two, .-half_of_two
        .globl add_four_cleared
        .type add_four_cleared, @function
add_four_cleared:
        vpaddd ymm0, ymm0, ymmword ptr [rip + eight]
        vzeroupper
        ret
        .size add_four_cleared, .-add_four_cleared
        .globl add_four
        .type add_four, @function
add_four:
        paddd xmm0, xmmword ptr [rip + eight]
        ret
        .size add_four, .-add_four
        .globl add_four_other
        .type add_four_other, @function
add_four_other:
        paddd xmm0, xmmword ptr [rip + eight + 16]
        ret
        .size add_four_other, .-add_four_other
        .globl twice
        .type twice, @function
twice:
        movddup xmm0, xmm0
        ret
        .size twice, .-twice
        .globl twice_shuffled
        .type twice_shuffled, @function
twice_shuffled:
        shufpd xmm0, xmm0, 0
        ret
        .size twice_shuffled, .-twice_shuffled
        .globl twice_avx
        .type twice_avx, @function
twice_avx:
        vpermilpd xmm0, xmm0, 0
        ret
        .size twice_avx, .-twice_avx
        .globl twice_plus
        .type twice_plus, @function
twice_plus:
        movsd xmm1, qword ptr [rip + one]
        addsd xmm1, xmm0
        unpcklpd xmm0, xmm1
        ret
        .size twice_plus, .-twice_plus
        .globl upper_twice
        .type upper_twice, @function
upper_twice:
        unpckhpd xmm0, xmm0
        ret
        .size upper_twice, .-upper_twice
        .globl same
        .type same, @function
same:
        ret
        .size same, .-same
        .globl upper_zero
        .type upper_zero, @function
upper_zero:
        movq xmm0, xmm0
        ret
        .size upper_zero, .-upper_zero
        .globl upper_one
        .type upper_one, @function
upper_one:
        movhpd xmm0, qword ptr [rip + one]
        ret
        .size upper_one, .-upper_one
        .globl last_lane
        .type last_lane, @function
last_lane:
        pinsrd xmm0, edi, 3
        ret
        .size last_lane, .-last_lane
        .globl last_lane_plus
        .type last_lane_plus, @function
last_lane_plus:
        inc edi
        pinsrd xmm0, edi, 3
        ret
        .size last_lane_plus, .-last_lane_plus
        .globl two_floats
        .type two_floats, @function
two_floats:
        unpcklps xmm0, xmm1
        ret
        .size two_floats, .-two_floats
        .globl two_floats_inserted
        .type two_floats_inserted, @function
two_floats_inserted:
        insertps xmm0, xmm1, 0x10
        ret
        .size two_floats_inserted, .-two_floats_inserted
        .globl two_floats_other
        .type two_floats_other, @function
two_floats_other:
        addss xmm1, xmm1
        unpcklps xmm0, xmm1
        ret
        .size two_floats_other, .-two_floats_other
        .globl pass_eight
        .type pass_eight, @function
pass_eight:
        vpaddd ymm0, ymm0, ymmword ptr [rip + eight]
        jmp outside@PLT
        .size pass_eight, .-pass_eight
        .globl pass_eight_other
        .type pass_eight_other, @function
pass_eight_other:
        vpaddd ymm0, ymm0, ymmword ptr [rip + eight_other]
        jmp outside@PLT
        .size pass_eight_other, .-pass_eight_other
        .globl pass_four_cleared
        .type pass_four_cleared, @function
pass_four_cleared:
        vmovdqa ymm0, ymmword ptr [rip + eight]
        vzeroupper
        jmp outside@PLT
        .size pass_four_cleared, .-pass_four_cleared
        .globl pass_four
        .type pass_four, @function
pass_four:
        movaps xmm0, xmmword ptr [rip + eight]
        jmp outside@PLT
        .size pass_four, .-pass_four
        .globl pass_four_other
        .type pass_four_other, @function
pass_four_other:
        movaps xmm0, xmmword ptr [rip + eight + 16]
        jmp outside@PLT
        .size pass_four_other, .-pass_four_other
        .section .rodata
        .balign 32
eight:  .long 1, 2, 3, 4, 5, 6, 7, 8
eight_other:
        .long 1, 2, 3, 4, 5, 6, 7, 9
one:    .double 1.0
        .text
        .section .note.GNU-stack,"",@progbits
