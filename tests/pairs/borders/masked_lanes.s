        .intel_syntax noprefix
        .text
        .globl chosen
        .type chosen, @function
chosen: vmovd xmm0, esi
        vpbroadcastd xmm0, xmm0
        vpmaskmovd xmm1, xmm0, [rdi]
        xor eax, eax
        ret
        .size chosen, . - chosen
        .globl chosen_one
        .type chosen_one, @function
chosen_one:
        vmovd xmm0, esi
        vpbroadcastd xmm0, xmm0
        vpmaskmovd xmm1, xmm0, [rdi]
        xor eax, eax
        test rdi, rdi
        sete al
        ret
        .size chosen_one, . - chosen_one
        .section .note.GNU-stack, "", @progbits
