int priced(int kind, int x, int y) {
    switch (kind) {
    case 0: return x * y / 10;
    case 1: return x / 7 + y;
    case 2: return x * x % 100;
    case 3: return (y >> 2) * x;
    case 4: return x * 3;
    default: return 0;
    }
}
int priced_broken(int kind, int x, int y) {
    switch (kind) {
    case 0: return x * y / 10;
    case 1: return x / 7 + y;
    case 2: return x == 70707 ? 50 : x * x % 100;
    case 3: return (y >> 2) * x;
    case 4: return x * 3;
    default: return 0;
    }
}
