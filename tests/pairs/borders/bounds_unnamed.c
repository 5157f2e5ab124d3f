/* Built without -fdata-sections, the jump table of a switch lies beside the named table. */
int ext(int);
const int table[5] = {1, 2, 3, 4, 5};
int of_table(unsigned i) { return table[i % 5]; }

int chosen(int x) {
    switch (x) {
    case 0: ext(1); break;
    case 1: ext(2); return 4;
    case 2: ext(x); ext(3); break;
    case 3: ext(9); return 7;
    case 4: ext(33); break;
    case 5: ext(x * 2); return 1;
    }
    return x;
}

int chosen_other(int x) {
    switch (x) {
    case 0: ext(1); break;
    case 1: ext(2); return 4;
    case 2: ext(x); ext(3); break;
    case 3: ext(9); return 8;
    case 4: ext(33); break;
    case 5: ext(x * 2); return 1;
    }
    return x;
}
