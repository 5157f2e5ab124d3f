/* Stores behind a jump table: what its other targets may do says nothing about them. */

int operate(int *r, unsigned word) {
    unsigned op = word >> 12 & 15, d = word >> 8 & 7, a = word >> 4 & 7;
    int x = r[a], result;
    switch (op) {
    case 0: return 0;
    case 1: result = x + 1; break;
    case 2: result = x - r[0]; break;
    case 3: result = x & 12; break;
    case 4: result = x | r[1]; break;
    case 5: result = x ^ 5; break;
    case 6: result = x << 3; break;
    case 7: result = r[7]; break;
    default: return -1;
    }
    r[d] = result;
    return 1;
}

int operate_other(int *r, unsigned word) {
    unsigned op = word >> 12 & 15, d = word >> 8 & 7, a = word >> 4 & 7;
    int x = r[a], result;
    switch (op) {
    case 0: return 0;
    case 1: result = x + 1; break;
    case 2: result = x - r[0]; break;
    case 3: result = x & 12; break;
    case 4: result = x | r[1]; break;
    case 5: result = x ^ 5; break;
    case 6: result = x << 3; break;
    case 7: result = r[7]; break;
    default: return -1;
    }
    r[a] = result;
    return 1 + 0 * d;
}
