#define ROTATE(x, n) ((x) << (n) | (x) >> (32 - (n)))
#define STEP(a, b, c, d, k, n) a += ((b & c) | (~b & d)) + (k); a = ROTATE(a, n) + b;

void digest(unsigned *state, const unsigned *block)
{
    unsigned a = state[0], b = state[1], c = state[2], d = state[3];
    STEP(a, b, c, d, block[0], 7)
    //? constant | STEP(a, b, c, d, block[0], 6)
    STEP(d, a, b, c, block[1], 12)
    STEP(c, d, a, b, block[2], 17)
    //? operand | STEP(c, d, a, b, block[3], 17)
    STEP(b, c, d, a, block[3], 22)
    STEP(a, b, c, d, block[4] + 0xf57c0fafu, 7)
    //? constant | STEP(a, b, c, d, block[4] + 0xf57c0faeu, 7)
    STEP(d, a, b, c, block[5], 12)
    STEP(c, d, a, b, block[6], 17)
    //? operand | STEP(c, d, b, a, block[6], 17)
    STEP(b, c, d, a, block[7], 22)
    STEP(a, b, c, d, block[8], 7)
    STEP(d, a, b, c, block[9], 12)
    //? operator | STEP(d, a, b, c, -block[9], 12)
    STEP(c, d, a, b, block[10], 17)
    STEP(b, c, d, a, block[11], 22)
    STEP(a, b, c, d, block[12], 7)
    STEP(d, a, b, c, block[13], 12)
    STEP(c, d, a, b, block[14], 17)
    //? constant | STEP(c, d, a, b, block[14], 18)
    STEP(b, c, d, a, block[15], 22)
    state[0] += a;
    //? operator | state[0] -= a;
    state[1] += b;
    //? missing store | ;
    state[2] += c;
    //? operand | state[2] += d;
    state[3] += d;
}

unsigned note(int what, unsigned value);

struct order { int kind, count, price; unsigned flags; int discount, total, tax; };

int price(struct order *o, const int *rates, int region)
{
    int errors = 0;
    if (o->count <= 0)
    //? comparison | if (o->count < 0)
        errors += (int)note(1, (unsigned)o->count);
    if (o->price > 100000)
    //? constant | if (o->price > 10000)
        errors += (int)note(2, (unsigned)o->price);
        //? constant | errors += (int)note(3, (unsigned)o->price);
    o->total = o->count * o->price;
    //? operator | o->total = o->count + o->price;
    if (o->flags & 1)
        o->discount = o->total / 10;
        //? constant | o->discount = o->total / 20;
    else if (o->flags & 2)
    //? constant | else if (o->flags & 4)
        o->discount = o->total / 5 + 1;
    else
        o->discount = 0;
        //? constant | o->discount = 1;
    o->total -= o->discount;
    //? missing store | ;
    switch (o->kind) {
    case 0: o->tax = o->total * rates[0] / 100; break;
    //? operand | case 0: o->tax = o->total * rates[1] / 100; break;
    case 1: o->tax = o->total * rates[1] / 100; break;
    case 2: o->tax = (o->total >> 3) + rates[2]; break;
    //? signedness | case 2: o->tax = (int)((unsigned)o->total >> 3) + rates[2]; break;
    case 3: o->tax = o->total & 0xff; break;
    //? width | case 3: o->tax = (signed char)o->total; break;
    default: o->tax = 0; errors++; break;
    //? constant | default: o->tax = 1; errors++; break;
    }
    if (region > 4 && o->tax < 50)
    //? comparison | if (region >= 4 && o->tax < 50)
        o->tax = 50;
        //? operand | o->tax = region;
    if (region == 7)
        o->tax += rates[3];
        //? operator | o->tax -= rates[3];
    o->flags |= o->tax ? 8u : 16u;
    //? constant | o->flags |= o->tax ? 8u : 32u;
    if (errors)
        note(4, o->flags);
        //? missing call | ;
    return errors ? -errors : o->total + o->tax;
    //? operator | return errors ? -errors : o->total - o->tax;
}
