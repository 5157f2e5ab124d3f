int t[2] = {1, 2};
#ifdef OTHER
int u[2] = {3, 5};
#else
int u[2] = {3, 4};
#endif
void both(int i, int j) { t[i] = j; u[j] = i; }
int element(int x) { return t[x]; }
