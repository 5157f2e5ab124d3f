; always a division fault
div $0, $0
jr $31
