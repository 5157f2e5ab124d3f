/* SSE2 integer instructions against scalar code. */
#include <emmintrin.h>

void add_four(unsigned *to, const unsigned *x, const unsigned *y) {
    unsigned a = x[0] + y[0], b = x[1] + y[1], c = x[2] + y[2], d = x[3] + y[3];
    to[0] = a;
    to[1] = b;
    to[2] = c;
    to[3] = d;
}
void add_four_rewrite(unsigned *to, const unsigned *x, const unsigned *y) {
    __m128i sum = _mm_add_epi32(_mm_loadu_si128((const __m128i *)x), _mm_loadu_si128((const __m128i *)y));
    _mm_storeu_si128((__m128i *)to, sum);
}
void add_four_broken(unsigned *to, const unsigned *x, const unsigned *y) {
    __m128i sum = _mm_add_epi16(_mm_loadu_si128((const __m128i *)x), _mm_loadu_si128((const __m128i *)y));
    _mm_storeu_si128((__m128i *)to, sum);
}

int zero_lanes(const int *x) {
    return (x[0] == 0) | (x[1] == 0) << 1 | (x[2] == 0) << 2 | (x[3] == 0) << 3;
}
int zero_lanes_rewrite(const int *x) {
    __m128i equal = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)x), _mm_setzero_si128());
    return _mm_movemask_ps(_mm_castsi128_ps(equal));
}
int zero_lanes_broken(const int *x) {
    __m128i equal = _mm_cmpgt_epi32(_mm_setzero_si128(), _mm_loadu_si128((const __m128i *)x));
    return _mm_movemask_ps(_mm_castsi128_ps(equal));
}

void reverse_four(unsigned *x) {
    unsigned a = x[0], b = x[1], c = x[2], d = x[3];
    x[0] = d;
    x[1] = c;
    x[2] = b;
    x[3] = a;
}
void reverse_four_rewrite(unsigned *x) {
    __m128i loaded = _mm_loadu_si128((const __m128i *)x);
    _mm_storeu_si128((__m128i *)x, _mm_shuffle_epi32(loaded, 0x1b));
}
void reverse_four_broken(unsigned *x) {
    __m128i loaded = _mm_loadu_si128((const __m128i *)x);
    _mm_storeu_si128((__m128i *)x, _mm_shuffle_epi32(loaded, 0x4e));
}

int equal_sixteen(const unsigned long *x, const unsigned long *y) { return x[0] == y[0] && x[1] == y[1]; }
int equal_sixteen_rewrite(const unsigned long *x, const unsigned long *y) {
    __m128i equal = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)x), _mm_loadu_si128((const __m128i *)y));
    return _mm_movemask_epi8(equal) == 0xffff;
}
int equal_sixteen_broken(const unsigned long *x, const unsigned long *y) {
    __m128i equal = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)x), _mm_loadu_si128((const __m128i *)y));
    return (_mm_movemask_epi8(equal) & 0x7fff) == 0x7fff;
}

int sum_lanes(const int *x) { return (int)((unsigned)x[0] + x[1] + x[2] + x[3]); }
int sum_lanes_rewrite(const int *x) {
    __m128i sum = _mm_loadu_si128((const __m128i *)x);
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
    return _mm_cvtsi128_si32(sum);
}
int sum_lanes_broken(const int *x) {
    __m128i sum = _mm_loadu_si128((const __m128i *)x);
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
    return _mm_cvtsi128_si32(sum);
}
