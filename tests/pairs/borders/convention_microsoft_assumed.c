__attribute__((ms_abi)) int always(int x) { return 1; }
__attribute__((ms_abi)) int below(int x) { return x < 5 ? 1 : 2; }
