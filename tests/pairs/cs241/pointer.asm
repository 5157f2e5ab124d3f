; int f(int *p, int n): p[0] = n; p[1] = n + p[0]; return p[0] + p[1];
sw $2, 0($1)
lw $4, 0($1)
add $4, $4, $2
sw $4, 4($1)
lw $5, 0($1)
lw $6, 4($1)
add $3, $5, $6
jr $31
