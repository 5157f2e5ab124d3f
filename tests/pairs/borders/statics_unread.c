/* Nothing reads `unread`: with optimisation clang removes it, and not `used`. */
static int used[8], unread[8];

void set(int i, int v) { used[i & 7] = v; unread[i & 7] = v; }

int get(long i, int n) { unread[1] = n; return used[i & 7]; }

int get_wrong(long i, int n) { unread[1] = n; return used[i & 7] + (n == 77); }
