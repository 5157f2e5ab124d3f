#include <immintrin.h>

/* gcc 12 does not say in debug information how many elements a __m512i has. */
__m512i one_more(__m512i a) { return _mm512_add_epi32(a, _mm512_set1_epi32(1)); }
__m512i two_more_above(__m512i a) {
    return _mm512_add_epi32(a, _mm512_set_epi32(2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
}

struct block { __m512i words; };
void set(struct block *p) { p->words = _mm512_set1_epi32(1); }
void set_otherwise(struct block *p) { p->words = _mm512_set_epi32(2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1); }
void set_again(struct block *p) { p->words = _mm512_set1_epi32(2); p->words = _mm512_set1_epi32(1); }
