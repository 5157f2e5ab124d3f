/* Widths, arguments on the stack, bit-fields, unions. */
#include <stdbool.h>

long widen(int x) { return x; }
long widen_broken(int x) { return (unsigned)x; }

int from_char(signed char c) { return c; }
int from_char_broken(signed char c) { return (unsigned char)c; }

short add_short(short x, short y) { return (short)(x + y); }
short add_short_rewrite(short x, short y) { return (short)((unsigned short)x + (unsigned short)y); }
short add_short_broken(short x, short y) { return (signed char)(x + y); }

int choose(bool which, int x, int y) { return which ? x : y; }
int choose_rewrite(bool which, int x, int y) { return y ^ ((x ^ y) & -(int)which); }
int choose_broken(bool which, int x, int y) { return which ? y : x; }

bool nonzero(int x) { return x != 0; }
bool nonzero_broken(int x) { return (char)x != 0; }

unsigned mixed(unsigned char a, unsigned short b, unsigned c, unsigned long d) { return a + b * 2 + c * 3 + (unsigned)d * 4; }
unsigned mixed_rewrite(unsigned char a, unsigned short b, unsigned c, unsigned long d) {
    return (unsigned)(a + 2ul * b + 3ul * c + 4ul * d);
}
unsigned mixed_broken(unsigned char a, unsigned short b, unsigned c, unsigned long d) {
    return (unsigned)(a + 2ul * (unsigned char)b + 3ul * c + 4ul * d);
}

int many(int a, int b, int c, int d, int e, int f, int g, int h, char i) {
    return a ^ b ^ c ^ d ^ e ^ f ^ (g & ~h) ^ i;
}
int many_rewrite(int a, int b, int c, int d, int e, int f, int g, int h, char i) {
    return i ^ (g & h) ^ g ^ f ^ e ^ d ^ c ^ b ^ a;
}
int many_broken(int a, int b, int c, int d, int e, int f, int g, int h, char i) {
    return a ^ b ^ c ^ d ^ e ^ f ^ (h & ~g) ^ i;
}

struct fields { unsigned low : 5, middle : 11, high : 16; };
unsigned set_middle(struct fields fields, unsigned value) {
    fields.middle = value;
    union { struct fields fields; unsigned whole; } view = {fields};
    return view.whole;
}
unsigned set_middle_rewrite(struct fields fields, unsigned value) {
    union { struct fields fields; unsigned whole; } view = {fields};
    return (view.whole & ~0xffe0u) | (value << 5 & 0xffe0u);
}
unsigned set_middle_broken(struct fields fields, unsigned value) {
    union { struct fields fields; unsigned whole; } view = {fields};
    return (view.whole & ~0xffe0u) | value << 5;
}

float magnitude(float x) { return __builtin_fabsf(x); }
float magnitude_rewrite(float x) {
    union { float number; unsigned bits; } view = {x};
    view.bits &= 0x7fffffffu;
    return view.number;
}
float magnitude_broken(float x) {
    union { float number; unsigned bits; } view = {x};
    view.bits &= 0x7ffffffeu;
    return view.number;
}

unsigned exponent(double x) {
    union { double number; unsigned long bits; } view = {x};
    return view.bits >> 52 & 0x7ff;
}
unsigned exponent_rewrite(double x) {
    union { double number; unsigned short parts[4]; } view = {x};
    return (view.parts[3] & 0x7fff) >> 4;
}
unsigned exponent_broken(double x) {
    union { double number; unsigned short parts[4]; } view = {x};
    return view.parts[3] >> 4;
}
