int days(int month, int leap)
{
    static const unsigned char lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12)
    //? constant | if (month < 1 || month > 11)
    //? comparison | if (month < 1 || month >= 12)
        return -1;
    int found = lengths[month - 1];
    //? operand | int found = lengths[12 - month];
    if (month == 2 && leap)
    //? constant | if (month == 3 && leap)
        found++;
        //? operator | found--;
    return found;
}

int opcode(int op, int x, int y)
{
    int r;
    switch (op) {
    case 0: r = x + y; break;
    //? operator | case 0: r = x - y; break;
    case 1: r = x - y; break;
    case 2: r = x * 3; break;
    //? constant | case 2: r = x * 5; break;
    case 3: r = x & y; break;
    //? operator | case 3: r = x ^ y; break;
    case 4: r = x | y; break;
    case 5: r = x << 2; break;
    //? constant | case 5: r = x << 3; break;
    case 6: r = ~y; break;
    //? operand | case 6: r = ~x; break;
    case 7: r = x > y; break;
    //? comparison | case 7: r = x >= y; break;
    case 8: r = 77; break;
    //? constant | case 8: r = 78; break;
    case 9: r = (unsigned)x >> 4; break;
    //? signedness | case 9: r = x >> 4; break;
    default: r = -1; break;
    //? constant | default: r = 1; break;
    }
    return r + 10;
    //? constant | return r + 11;
}

unsigned classify(unsigned char c)
{
    unsigned kind = 0;
    switch (c) {
    case ' ': case '\t': case '\n': kind = 1; break;
    //? constant | case ' ': case '\t': case '\r': kind = 1; break;
    case '0' ... '9': kind = 2; break;
    //? constant | case '0' ... '8': kind = 2; break;
    case 'a' ... 'z': case 'A' ... 'Z': case '_': kind = 3; break;
    case '+': case '-': case '*': case '/': kind = 4; break;
    //? constant | case '+': case '-': case '*': case '/': kind = 5; break;
    case '(': kind = 6; break;
    case ')': kind = 7; break;
    //? constant | case ')': kind = 6; break;
    }
    return kind * 16 + (c & 15);
    //? constant | return kind * 16 + (c & 7);
    //? operator | return kind * 16 + (c | 15);
}

int nibbles(unsigned x)
{
    static const int weight[16] = {5, 3, -7, 11, 2, 19, -4, 8, 13, -1, 6, 17, -9, 4, 10, 1};
    int sum = weight[x & 15];
    //? constant | int sum = weight[x & 7];
    sum += weight[(x >> 4) & 15] * 2;
    //? constant | sum += weight[(x >> 5) & 15] * 2;
    sum += weight[(x >> 8) & 15] * 3;
    //? operator | sum -= weight[(x >> 8) & 15] * 3;
    sum += weight[(x >> 12) & 15] * 5;
    //? constant | sum += weight[(x >> 12) & 15] * 7;
    return sum;
}
