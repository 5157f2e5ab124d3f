/* gcc counts a bit-field without a name when it chooses registers, clang does not, and debug information has none. */
struct unnamed { int : 32; float number; };
struct unnamed once(float x) { struct unnamed made; made.number = x; return made; }
struct unnamed twice(float x) { struct unnamed made; made.number = x * 2; return made; }
struct aligned_only { float number; double other; };
struct aligned_only sum(float x) { struct aligned_only made; made.number = x; made.other = x + x; return made; }
struct aligned_only product(float x) { struct aligned_only made; made.number = x; made.other = x * 2; return made; }
struct aligned_only product_wrong(float x) { struct aligned_only made; made.number = x; made.other = x * 3; return made; }
