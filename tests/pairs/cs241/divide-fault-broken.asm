beq $2, $0, done
div $1, $2
mflo $3
done:
jr $31
