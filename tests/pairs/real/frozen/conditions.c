/* Conditions on values that do not change while the loop runs. */

void sign_added(int *a, const int *b, int n, int negative) {
    for (int i = 0; i < n; i++) {
        if (negative) a[i] -= b[i];
        else a[i] += b[i];
    }
}
void sign_added_broken(int *a, const int *b, int n, int negative) {
    for (int i = 0; i < n; i++) {
        if (negative > 0) a[i] -= b[i];
        else a[i] += b[i];
    }
}

int by_mode(const int *a, int n, int mode) {
    int r = 0;
    for (int i = 0; i < n; i++) {
        if (mode == 0) r += a[i];
        else if (mode == 1) r ^= a[i];
        else r |= a[i];
    }
    return r;
}
int by_mode_broken(const int *a, int n, int mode) {
    int r = 0;
    for (int i = 0; i < n; i++) {
        if (mode == 0) r += a[i];
        else if (mode == 1) r ^= a[i];
        else r &= a[i];
    }
    return r;
}

int masked(const int *a, const int *mask, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        int x = a[i];
        if (mask) x &= mask[i];
        s += x;
    }
    return s;
}
int masked_broken(const int *a, const int *mask, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        int x = a[i];
        if (mask) x &= mask[0];
        s += x;
    }
    return s;
}

unsigned thrifty(const unsigned *a, int n, int k) {
    unsigned s = 1;
    for (int i = 0; i < n; i++) {
        s = s * 31 + a[i];
        if (k > 10) s ^= s >> 7;
    }
    return s;
}
unsigned thrifty_rewrite(const unsigned *a, int n, int k) {
    unsigned s = 1;
    if (k > 10)
        for (int i = 0; i < n; i++) {
            s = s * 31 + a[i];
            s ^= s >> 7;
        }
    else
        for (int i = 0; i < n; i++) s = s * 31 + a[i];
    return s;
}
unsigned thrifty_broken(const unsigned *a, int n, int k) {
    unsigned s = 1;
    if (k >= 10)
        for (int i = 0; i < n; i++) {
            s = s * 31 + a[i];
            s ^= s >> 7;
        }
    else
        for (int i = 0; i < n; i++) s = s * 31 + a[i];
    return s;
}

void limited(unsigned char *a, int n, int limit, int clip) {
    for (int i = 0; i < n; i++)
        if (clip && a[i] > limit) a[i] = (unsigned char)limit;
}
void limited_broken(unsigned char *a, int n, int limit, int clip) {
    for (int i = 0; i < n; i++)
        if (clip && a[i] >= limit) a[i] = (unsigned char)(limit - 1);
}

int found(const int *a, int n, int key, int backward) {
    for (int i = 0; i < n; i++) {
        int k = backward ? n - 1 - i : i;
        if (a[k] == key) return k;
    }
    return -1;
}
int found_rewrite(const int *a, int n, int key, int backward) {
    if (backward) {
        for (int k = n - 1; k >= 0; k--)
            if (a[k] == key) return k;
    } else {
        for (int k = 0; k < n; k++)
            if (a[k] == key) return k;
    }
    return -1;
}
int found_broken(const int *a, int n, int key, int backward) {
    if (backward) {
        for (int k = n - 1; k > 0; k--)
            if (a[k] == key) return k;
    } else {
        for (int k = 0; k < n; k++)
            if (a[k] == key) return k;
    }
    return -1;
}
