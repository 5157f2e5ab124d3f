/* Unicorn runs no VEX instruction. */
#include <immintrin.h>
void add_one(int *p) { _mm256_storeu_si256((__m256i *)p, _mm256_add_epi32(_mm256_set1_epi32(1), _mm256_loadu_si256((__m256i *)p))); }
void add_two(int *p) { _mm256_storeu_si256((__m256i *)p, _mm256_add_epi32(_mm256_set1_epi32(2), _mm256_loadu_si256((__m256i *)p))); }
void add_one_up_to(int *p, int n) { for (int i = 0; i < n; i++) add_one(p + 8 * i); }
void add_two_up_to(int *p, int n) { for (int i = 0; i < n; i++) add_two(p + 8 * i); }
