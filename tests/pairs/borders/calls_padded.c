/* Structures with padding for a callee whose declaration says nothing of them. */
struct padded { char first; int second; };
int take(int count, ...);
int passes(char first, int second) {
    struct padded value;
    value.first = first;
    value.second = second;
    return take(1, value) + 1;
}
int passes_other(char first, int second) {
    struct padded value;
    value.first = first ^ 1;
    value.second = second;
    return take(1, value) + 1;
}
