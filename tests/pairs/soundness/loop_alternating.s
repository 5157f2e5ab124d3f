	.text
	.globl sum, wait
	.type sum,@function
sum:	xor %eax,%eax
.L1:	test %edi,%edi
	jz .L2
	add %edi,%eax
	dec %edi
	jmp .L1
.L2:	ret
	.size sum,.-sum
	.type wait,@function
wait:	xor %eax,%eax
	mov %edx,%r10d
	mov %ecx,%edx
.M1:	test %edi,%edi
	jz .MY
	add %edi,%eax
	dec %edi
	jmp .M1
.MY:	test %ecx,%ecx
	jz .M9
	test %edx,%edx
	jz .M9
	ror $1,%r10d
	jc .ME2
	dec %ecx
	cmp $0x7654321,%esi
	jne .MW
	mov $5,%edx
.MW:	mov $1,%r9d
.MP:	dec %r9d
	jnz .MP
	jmp .MY
.ME2:	dec %edx
	cmp $0x7654321,%esi
	jne .MX
	mov $5,%ecx
.MX:	mov $2,%r9d
.MQ:	dec %r9d
	jnz .MQ
	jmp .MY
.M9:	ret
	.size wait,.-wait
	.section .note.GNU-stack,"",@progbits
