/* Loops over whole arrays: a compiler knows the trip count, and writes the last iterations out. */

#define SIZE 4003

int a[2 * SIZE], b[SIZE], c[SIZE];

void neighbours(void) {
    for (int i = 0; i < SIZE - 1; i++) {
        a[i + 1] = b[i] + 3;
        a[i] = b[i] ^ c[i];
    }
}
void neighbours_broken(void) {
    for (int i = 0; i < SIZE - 2; i++) {
        a[i + 1] = b[i] + 3;
        a[i] = b[i] ^ c[i];
    }
}

void four_before(void) {
    for (int i = 4; i < SIZE - 3; i++) b[i] = b[i - 4] + a[i];
}
void four_before_broken(void) {
    for (int i = 4; i < SIZE - 3; i++) b[i] = b[i - 4] + (i == 3998 ? a[i] - 1 : a[i]);
}

void ahead(int k) {
    if (k > 0)
        for (int i = 0; i < SIZE - 4; i++) a[i] = a[i + k] + b[i] * c[i];
}
void ahead_broken(int k) {
    if (k > 0)
        for (int i = 0; i < SIZE - 4; i++) a[i] = a[i + k] - b[i] * c[i];
}

void beside(void) {
    for (int i = 0; i < SIZE - 1; i++) b[i] = b[i + 1] + c[i];
}
void beside_broken(void) {
    for (int i = 0; i < SIZE - 1; i++) b[i] = b[i + 1] + (i == SIZE - 2 ? c[i] ^ 1 : c[i]);
}

int d[SIZE];

void either(void) {
    for (int i = 0; i < SIZE; i++) a[i] = b[i] > 0 ? b[i] + c[i] * d[i] : c[i] + d[i] * d[i];
}
void either_broken(void) {
    for (int i = 0; i < SIZE; i++) a[i] = b[i] > 0 || i == SIZE - 1 ? b[i] + c[i] * d[i] : c[i] + d[i] * d[i];
}

void down(void) {
    for (int i = SIZE - 2; i >= 0; i--) b[i + 1] = b[i] + c[i];
}
void down_broken(void) {
    for (int i = SIZE - 2; i >= 0; i--) b[i + 1] = b[i] + (i == 0 ? c[i] ^ 1 : c[i]);
}

#define ROWS 96

int m[ROWS][ROWS], p[ROWS][ROWS];

void rows(void) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) m[i][j] += p[i][j];
}
void rows_broken(void) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) m[i][j] += i == ROWS - 1 && j == ROWS - 1 ? p[i][j] ^ 1 : p[i][j];
}

int rows_sum(void) {
    int sum = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) sum += m[i][j];
    return sum;
}
int rows_sum_broken(void) {
    int sum = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS - (i == ROWS - 1); j++) sum += m[i][j];
    return sum;
}

#define EVEN 4000

int f[EVEN], g[EVEN];

void backwards(void) {
    for (int i = 0; i < EVEN; i++) f[EVEN - 1 - i] = g[i];
}
void backwards_broken(void) {
    for (int i = 0; i < EVEN; i++) f[EVEN - 1 - i] = i < EVEN - 1 ? g[i] : g[i] + 1;
}

void every_other(void) {
    for (int i = 0; i < EVEN; i += 2) f[i] = f[i + 1] + g[i];
}
void every_other_broken(void) {
    for (int i = 0; i < EVEN - 2; i += 2) f[i] = f[i + 1] + g[i];
}

int exclusive(void) {
    int found = 0;
    for (int i = 0; i < EVEN; i++) found ^= f[i];
    return found;
}
int exclusive_broken(void) {
    int found = 0;
    for (int i = 0; i < EVEN; i++) found ^= i == EVEN - 1 ? f[i] + 1 : f[i];
    return found;
}
