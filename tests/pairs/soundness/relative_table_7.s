	.text
	.globl at
	.type at,@function
at:	and $31,%edi
	lea tab(%rip),%rax
	movslq (%rax,%rdi,4),%rdi
	add %rax,%rdi
	and $1,%esi
	lea (%rdi,%rsi,4),%rdi
	mov (%rdi),%eax
	ret
	.size at,.-at
	.section .rodata.tab,"a"
	.p2align 3
	.type tab,@object
tab:	.long V-tab,V-tab,V-tab,V-tab,V-tab,V-tab,V-tab,V-tab,V-tab,V-tab,V-tab,V-tab,V-tab,V-tab,V-tab,W-tab,V-tab,V-tab,V-tab,V-tab,V-tab,V-tab,V-tab,V-tab,V-tab,V-tab,V-tab,V-tab,V-tab,V-tab,V-tab,V-tab
	.size tab,.-tab
	.section .rodata.V,"a"
	.p2align 3
	.type V,@object
V:	.long 5,5
	.size V,.-V
	.section .rodata.W,"a"
	.p2align 3
	.type W,@object
W:	.long 9,7
	.size W,.-W
	.section .note.GNU-stack,"",@progbits
