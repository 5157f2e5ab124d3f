mult $1, 5
mflo $3
