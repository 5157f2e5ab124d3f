#define ROTATE(x, n) ((x) << (n) | (x) >> (32 - (n)))

unsigned rounds(unsigned *state, const unsigned *key)
{
    unsigned a = state[0], b = state[1], c = state[2], d = state[3];
    a += key[0]; d = ROTATE(d ^ a, 16);
    //? constant | a += key[0]; d = ROTATE(d ^ a, 15);
    c += d; b = ROTATE(b ^ c, 12);
    //? operator | c -= d; b = ROTATE(b ^ c, 12);
    a += b; d = ROTATE(d ^ a, 8);
    c += d; b = ROTATE(b ^ c, 7);
    a += key[1]; d = ROTATE(d ^ a, 16);
    //? operand | a += key[2]; d = ROTATE(d ^ a, 16);
    c += d; b = ROTATE(b ^ c, 12);
    a += b; d = ROTATE(d ^ a, 8);
    //? operator | a += b; d = ROTATE(d | a, 8);
    c += d; b = ROTATE(b ^ c, 7);
    a += key[2]; d = ROTATE(d ^ a, 16);
    c += d; b = ROTATE(b ^ c, 12);
    a += b; d = ROTATE(d ^ a, 8);
    //? constant | a += b; d = ROTATE(d ^ a, 9);
    c += d; b = ROTATE(b ^ c, 7);
    //? operand | c += d; b = ROTATE(b ^ a, 7);
    a += key[3]; d = ROTATE(d ^ a, 16);
    c += d; b = ROTATE(b ^ c, 12);
    state[0] = a;
    state[1] = b;
    //? missing store | ;
    state[2] = c;
    state[3] = d;
    //? operand | state[3] = a;
    return a + b;
    //? operator | return a - b;
}

struct machine { int r[8]; unsigned flags; int steps; };

int step(struct machine *m, unsigned word)
{
    unsigned op = word >> 12 & 15, d = word >> 8 & 7, a = word >> 4 & 7, b = word & 7;
    //? constant | unsigned op = word >> 12 & 15, d = word >> 8 & 7, a = word >> 3 & 7, b = word & 7;
    int x = m->r[a], y = m->r[b], result = 0;
    //? operand | int x = m->r[a], y = m->r[a], result = 0;
    m->steps += 1;
    //? constant | m->steps += 2;
    //? missing store | ;
    switch (op) {
    case 0: return 0;
    //? constant | case 0: return 1;
    case 1: result = x + y; break;
    //? operator | case 1: result = x - y; break;
    case 2: result = x - y; break;
    case 3: result = x & y; break;
    //? operator | case 3: result = x | y; break;
    case 4: result = x | y; break;
    case 5: result = x ^ y; break;
    case 6: result = (int)((unsigned)x << (y & 31)); break;
    //? constant | case 6: result = (int)((unsigned)x << (y & 15)); break;
    case 7: result = x >> (y & 31); break;
    //? signedness | case 7: result = (int)((unsigned)x >> (y & 31)); break;
    case 8: result = (int)(word & 0xff); break;
    //? width | case 8: result = (signed char)(word & 0xff); break;
    case 9: result = x < y; break;
    //? comparison | case 9: result = x <= y; break;
    case 10: result = (unsigned)x < (unsigned)y; break;
    //? signedness | case 10: result = x < y; break;
    case 11: result = x == y; break;
    case 12: result = m->r[7]; m->r[7] = x; break;
    //? operand | case 12: result = m->r[7]; m->r[7] = y; break;
    case 13: result = -x; break;
    case 14: result = x * 2 + 1; break;
    //? constant | case 14: result = x * 2 + 3; break;
    default: return -1;
    }
    m->r[d] = result;
    //? operand | m->r[a] = result;
    m->flags = (unsigned)(result == 0) | (unsigned)(result < 0) << 1;
    //? constant | m->flags = (unsigned)(result == 0) | (unsigned)(result < 0) << 2;
    //? comparison | m->flags = (unsigned)(result == 0) | (unsigned)(result <= 0) << 1;
    return 1;
}

unsigned report(int code);

int configure(int *settings, const unsigned char *input, int strict)
{
    int errors = 0;
    if (input[0] != 'C')
    //? constant | if (input[0] != 'c')
        errors |= (int)report(1);
        //? constant | errors |= (int)report(2);
    settings[0] = input[1] * 4;
    //? constant | settings[0] = input[1] * 8;
    settings[1] = (input[2] & 0x0f) + 1;
    if (input[3] & 0x80) {
    //? constant | if (input[3] & 0x40) {
        settings[2] = -(input[3] & 0x7f);
        //? operator | settings[2] = ~(input[3] & 0x7f);
        settings[3] = 1;
        //? missing store | ;
    } else {
        settings[2] = input[3];
        settings[3] = 0;
        //? constant | settings[3] = 2;
    }
    if (strict && settings[0] > 400)
    //? comparison | if (strict && settings[0] < 400)
        errors |= (int)report(settings[0]);
        //? operand | errors |= (int)report(settings[1]);
    if (settings[1] == 7)
        settings[1] = input[4] << 8 | input[5];
        //? operand | settings[1] = input[5] << 8 | input[5];
    settings[4] = settings[0] + settings[1] + settings[2];
    //? operator | settings[4] = settings[0] + settings[1] - settings[2];
    settings[5] = (signed char)input[6];
    //? signedness | settings[5] = input[6];
    settings[6] = input[7] > 100 ? 100 : input[7];
    //? constant | settings[6] = input[7] > 100 ? 101 : input[7];
    if (errors)
        report(99);
        //? missing call | ;
    return errors ? -errors : settings[4];
    //? operand | return errors ? -errors : settings[5];
}
