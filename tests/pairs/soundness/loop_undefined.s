	.text
	.globl summed, plain
	.type summed,@function
summed:	xor %eax,%eax
	imul %esi,%esi
	jnz .K1
.L1:	test %edi,%edi
	jz .L2
	add %edi,%eax
	dec %edi
	imul %esi,%esi
	jz .L1
	cmp $0x7654321,%edi
	jne .L1
	inc %eax
	jmp .L1
.K1:	test %edi,%edi
	jz .L2
	add %edi,%eax
	dec %edi
	jmp .K1
.L2:	ret
	.size summed,.-summed
	.type plain,@function
plain:	xor %eax,%eax
.M1:	test %edi,%edi
	jz .M2
	add %edi,%eax
	dec %edi
	jmp .M1
.M2:	ret
	.size plain,.-plain
	.section .note.GNU-stack,"",@progbits
