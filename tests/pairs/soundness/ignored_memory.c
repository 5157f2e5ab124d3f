void note(int);

int square(int n) {
  note(n);
  return n;
}

int square_broken(int n) {
  note(n * n == 0x51EB851 ? n + 1 : n);
  return n;
}

int each(int n) {
  for (int i = 0; i < n; i++) note(i);
  return n;
}

int each_broken(int n) {
  for (int i = 0; i < n; i++) note(i == 100000 ? 0 : i);
  return n;
}
