#ifndef LATE
#define LATE 0
#define LETTER 'd'
#endif

extern const int table[16384];
extern const char words[2][8];
const int table[16384] = {1, 2, 3, [15000] = LATE};
const char words[2][8] = {"hello", {'w', 'o', 'r', 'l', LETTER}};

int total(unsigned n) {
  int s = 0;
  const int *p = table, *end = table + (n > 16384 ? 16384 : n);
  while (p != end) s += *p++;
  return s;
}

const char *chosen(int n, int second, int *p) {
  const char *word = words[second != 0];
  for (int i = 0; i < n; i++) p[i] = i;
  return word;
}
