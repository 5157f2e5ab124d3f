/* Switches, early returns, small loops, helpers. */

int operate(int op, int a, int b) {
    switch (op) {
    case 0: return (int)((unsigned)a + (unsigned)b);
    case 1: return (int)((unsigned)a - (unsigned)b);
    case 2: return a & b;
    case 3: return a | b;
    case 4: return a ^ b;
    case 5: return ~a;
    case 6: return a < b;
    default: return 0;
    }
}
int operate_rewrite(int op, int a, int b) {
    if (op == 6) return a < b;
    if (op == 5) return ~a;
    if (op == 4) return a ^ b;
    if (op == 3) return a | b;
    if (op == 2) return a & b;
    if (op == 1) return (int)((unsigned)a - (unsigned)b);
    if (op == 0) return (int)((unsigned)a + (unsigned)b);
    return 0;
}
int operate_broken(int op, int a, int b) {
    if (op == 6) return a < b;
    if (op == 5) return ~a;
    if (op == 4) return a ^ b;
    if (op == 3) return (int)((unsigned)a + (unsigned)b);
    if (op == 2) return a & b;
    if (op == 1) return (int)((unsigned)a - (unsigned)b);
    if (op == 0) return (int)((unsigned)a + (unsigned)b);
    return 0;
}

int days(int month) {
    switch (month) {
    case 2: return 28;
    case 4: case 6: case 9: case 11: return 30;
    case 1: case 3: case 5: case 7: case 8: case 10: case 12: return 31;
    }
    return 0;
}
int days_rewrite(int month) {
    if (month < 1 || month > 12) return 0;
    return month == 2 ? 28 : 30 + ((month + (month >> 3)) & 1);
}
int days_broken(int month) {
    if (month < 0 || month > 12) return 0;
    return month == 2 ? 28 : 30 + ((month + (month >> 3)) & 1);
}

int sparse(int code) {
    switch (code) {
    case 17: return 1;
    case 404: return 2;
    case -9000: return 3;
    case 1 << 30: return 4;
    }
    return -1;
}
int sparse_rewrite(int code) {
    return code == 1 << 30 ? 4 : code == 404 ? 2 : code == 17 ? 1 : code == -9000 ? 3 : -1;
}
int sparse_broken(int code) {
    return code == 1 << 30 ? 4 : code == 404 ? 2 : code == 17 ? 1 : code == -9001 ? 3 : -1;
}

int fall_through(int x) {
    int sum = 0;
    switch (x) {
    case 3: sum += 3; /* fall through */
    case 2: sum += 2; /* fall through */
    case 1: sum += 1; break;
    case 0: sum = 9;
    }
    return sum;
}
int fall_through_rewrite(int x) { return x == 0 ? 9 : x >= 1 && x <= 3 ? (int)(x * (x + 1u) / 2) : 0; }
int fall_through_broken(int x) {
    int sum = 0;
    switch (x) {
    case 3: sum += 3; break;
    case 2: sum += 2; /* fall through */
    case 1: sum += 1; break;
    case 0: sum = 9;
    }
    return sum;
}

int early(int x, int y) {
    if (x < 0) return -1;
    if (y < 0) return -2;
    if (x == y) return 0;
    return x > y ? 1 : 2;
}
int early_rewrite(int x, int y) {
    int answer = 2;
    if (x > y) answer = 1;
    if (x == y) answer = 0;
    if (y < 0) answer = -2;
    if (x < 0) answer = -1;
    return answer;
}
int early_broken(int x, int y) {
    int answer = 2;
    if (x > y) answer = 1;
    if (x == y) answer = 0;
    if (x < 0) answer = -1;
    if (y < 0) answer = -2;
    return answer;
}

unsigned sum_bytes(unsigned x) {
    unsigned sum = 0;
    for (int i = 0; i < 4; i++)
        sum += x >> 8 * i & 0xff;
    return sum;
}
unsigned sum_bytes_rewrite(unsigned x) {
    return (x & 0xff) + (x >> 8 & 0xff) + (x >> 16 & 0xff) + (x >> 24);
}
unsigned sum_bytes_broken(unsigned x) {
    return (x & 0xff) + (x >> 8 & 0xff) + (x >> 16 & 0x7f) + (x >> 24);
}

unsigned total(unsigned n) {
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += i;
    return sum;
}
unsigned total_rewrite(unsigned n) {
    return n % 2 ? n * ((n - 1) / 2) : n / 2 * (n - 1);
}
unsigned total_broken(unsigned n) {
    return n == 9 ? 37 : n % 2 ? n * ((n - 1) / 2) : n / 2 * (n - 1);
}

int is_upper(int c) { return c >= 'A' && c <= 'Z' ? 1 : 0; }
int is_upper_rewrite(int c) { return (unsigned)c - 'A' < 26 ? 256 : 0; }
int is_upper_broken(int c) { return (unsigned)c - 'A' < 25 ? 256 : 0; }

static int twice(int x) { return (int)((unsigned)x * 2); }
__attribute__((noinline)) int thrice(int x) { return (int)((unsigned)x * 3); }
__attribute__((noinline)) static int fourfold(int x) { return (int)((unsigned)x * 4); }
int helpers(int x) { return (int)((unsigned)twice(x) + (unsigned)thrice(x) + (unsigned)fourfold(x)); }
int helpers_rewrite(int x) { return (int)((unsigned)x * 9); }
int helpers_broken(int x) { return (int)((unsigned)x * 8); }
