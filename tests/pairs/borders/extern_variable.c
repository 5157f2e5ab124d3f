/* One file declares the variables, the other one defines them. */
#ifdef DEFINED
int counter;
int table[8];
#else
extern int counter, table[8];
#endif
void outside(void);

int count(int x) { return counter + x; }
int count_more(int x) { return counter + x + 1; }

int look_up(int i) {
    outside();
    return table[i & 7];
}
int look_up_next(int i) {
    outside();
    return table[(i + 1) & 7];
}

void set(int x) { counter = x; }
void set_other(int x) { counter = x ^ 1; }
