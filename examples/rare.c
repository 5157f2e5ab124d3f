/* Two checksums that part only behind several conditions, on a value that no random test hits. */
unsigned checksum(unsigned a, unsigned b) {
    unsigned c = a * 3 + b;
    if (c == 0x1234567) {
        if ((a ^ b) % 1000 == 77) c++;
    }
    return c;
}

unsigned checksum_rewrite(unsigned a, unsigned b) {
    unsigned c = a + b + (a << 1);
    if (c == 0x1234567) {
        if ((a ^ b) % 1000 == 77 && a < 0x80000000) c++;
    }
    return c;
}
