/* Loops that gcc (from -O2 on) and clang (from -O1 on) make calls of memset, memcpy, memmove and strlen of. */
#include <stddef.h>
#include <string.h>

void zero(int *a, int n) {
    for (int i = 0; i < n; i++)
        a[i] = 0;
}

void zero_broken(int *a, int n) {
    for (int i = 0; i < n - 1; i++)
        a[i] = 0;
}

void fill(unsigned char *a, unsigned char value, size_t n) {
    for (size_t i = 0; i < n; i++)
        a[i] = value;
}

void fill_broken(unsigned char *a, unsigned char value, size_t n) {
    memset(a, value + 1, n);
}

/* Every byte of an element is the same, but it is not zero. */
void ones(long *a, int n) {
    for (int i = 0; i < n; i++)
        a[i] = -1;
}

void ones_broken(long *a, int n) {
    for (int i = 0; i < n; i++)
        a[i] = 0x0101010101010101;
}

void copy(int *restrict to, const int *restrict from, int n) {
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}

void copy_broken(int *restrict to, const int *restrict from, int n) {
    for (int i = 1; i < n; i++)
        to[i] = from[i];
}

struct range {
    long low, high;
};

void copy_ranges(struct range *restrict to, const struct range *restrict from, int n) {
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}

void copy_ranges_broken(struct range *restrict to, const struct range *restrict from, int n) {
    memcpy(to, from, n > 0 ? n * sizeof(struct range) - 8ul : 0);
}

/* It counts down, so that memory is traversed from the end. */
void zero_down(int *a, int n) {
    while (n-- > 0)
        a[n] = 0;
}

void zero_down_broken(int *a, int n) {
    while (--n > 0)
        a[n] = 0;
}

struct pixel {
    int red, green, blue;
};

void copy_pixels(struct pixel *restrict to, const struct pixel *restrict from, int n) {
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}

void copy_pixels_broken(struct pixel *restrict to, const struct pixel *restrict from, int n) {
    memcpy(to, from, n > 0 ? n * sizeof(struct pixel) - 4ul : 0);
}

/* memmove goes through memory in the direction in which nothing is lost. */
void shift_down(int *a, int n) {
    for (int i = 0; i + 1 < n; i++)
        a[i] = a[i + 1];
}

void shift_down_broken(int *a, int n) {
    for (int i = n - 2; i >= 0; i--)
        a[i] = a[i + 1];
}

void shift_up(int *a, int n) {
    for (int i = n - 1; i > 0; i--)
        a[i] = a[i - 1];
}

void shift_up_broken(int *a, int n) {
    for (int i = 0; i + 1 < n; i++)
        a[i + 1] = a[i];
}

size_t length(const char *text) {
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}

size_t length_broken(const char *text) {
    return strlen(text) + 1;
}

/* The call comes back, and its result is not what is returned. */
long clear(long *a, int n) {
    for (int i = 0; i < n; i++)
        a[i] = 0;
    return n * 8L;
}

long clear_broken(long *a, int n) {
    return (long)memset(a, 0, n > 0 ? n * sizeof(long) : 0);
}

/* A call in each iteration of a loop. */
void clear_rows(long *a, int n, int width, long stride) {
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < width; k++)
            a[k] = 0;
        a += stride;
    }
}

void clear_rows_broken(long *a, int n, int width, long stride) {
    for (int i = 0; i < n; i++) {
        if (width > 0)
            memset(a, 0, width * sizeof(long) - 1);
        a += stride;
    }
}

/* One side calls memset for one of the two, the other for both. */
void clear_both(int *a, int *b, int n) {
    for (int i = 0; i < n; i++)
        a[i] = 0;
    memset(b, 0, n > 0 ? n * sizeof(int) : 0);
}

void clear_both_broken(int *a, int *b, int n) {
    for (int i = 0; i < n; i++)
        a[i] = 0;
    memset(b, 0, n > 0 ? n * sizeof(int) - 1 : 0);
}
