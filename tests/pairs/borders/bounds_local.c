/* The index of a local array comes from outside. */
int entry(unsigned i) {
    int next[6];
    for (int j = 0; j < 6; j++) next[j] = j * (int)i;
    return next[i];
}
int entry_wrong(unsigned i) {
    int next[6];
    for (int j = 0; j < 6; j++) next[j] = j * (int)i;
    return next[i] + (i == 5);
}

/* The array is in the frame of a function that is called. */
static __attribute__((noinline)) int square(int i)
{
    int squares[4] = {0, 1, 4, 9};
    return squares[i];
}

int calls_square(int i)
{
    int other[3] = {7, 8, 9};
    return square(i) + other[2];
}

int calls_square_wrong(int i) { return calls_square(i) + (i == 3); }

/* A number from a table is kept beside the index. */
static const int sizes[4] = {3, 4, 4, 6};

int sized(unsigned k, int j)
{
    int size = sizes[k & 3];
    int squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};
    int index = j - size;
    return squares[index] + size;
}

int sized_wrong(unsigned k, int j) { return sized(k, j) + (j == 10); }
