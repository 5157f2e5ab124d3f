void exit(int);

/* The loop that may end the program is not the one that returns. */
int search(int n, int m, int *p) {
  int i, j;
  for (j = 0; j < m; j++)
    if (p[j] == 0x7654321) exit(j + 5);
  for (i = 0; i < n; i++)
    ;
  return i;
}

int search_broken(int n, int m, int *p) {
  int i, j;
  for (j = 0; j < m; j++)
    if (p[j] == 0x7654321) exit(j + 6);
  for (i = 0; i < n; i++)
    ;
  return i;
}
