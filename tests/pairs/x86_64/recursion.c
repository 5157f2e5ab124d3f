unsigned factorial(unsigned n) { return n < 2 ? 1 : n * factorial(n - 1); }
