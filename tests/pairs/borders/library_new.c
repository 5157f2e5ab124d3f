/* operator new and operator new[], by the names that they have in C. */
void *_Znwm(unsigned long);
void *_Znam(unsigned long);
int *one(unsigned long n) {
    int *block = _Znwm(n);
    block[1] = 2;
    return block;
}
int *again(unsigned long n) {
    int *block = _Znwm(n);
    block[1] = 1 + 1;
    return block;
}
int *wrong(unsigned long n) {
    int *block = _Znwm(n);
    block[1] = 3;
    return block;
}
int *several(unsigned long n) {
    int *block = _Znam(n);
    block[1] = 2;
    return block;
}
