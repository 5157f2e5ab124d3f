/* A multiplier of more bits than the number: the product may be larger than the number, so that x - t wraps. */

unsigned sum(unsigned x) {
    unsigned t = (unsigned)(((unsigned long)x * 0x1AAAAAAABul) >> 32);
    return (t + ((x - t) >> 1)) >> 2;
}

unsigned third(unsigned x) { return (x / 3) & 0x3fffffff; }
