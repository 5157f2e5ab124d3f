bne $2, $0, divide
div $0, $0
divide:
div $1, $2
mflo $3
jr $31
