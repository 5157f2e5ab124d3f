/* Objects of known size. EXTRA adds what f does not use, so that other things lie beside the table. */
int table[4] = {1, 2, 3, 4};
const short steps[5] = {1, 3, 9, 27, 81};
static const int hidden[5] = {5, 4, 3, 2, 1};

int any_entry(int i) { return table[i]; }
int checked(unsigned i) { return i < 5 ? steps[i] : 0; }
int unchecked(unsigned i) { return steps[i]; }
int last_wrong(unsigned i) { return i == 4 ? 80 : steps[i]; }
int shifted(unsigned i) { return hidden[i - 257] + steps[i - 257]; }
int shifted_wrong(unsigned i) { return hidden[i - 257] + steps[i - 257] + (i == 261); }
int written(unsigned i, int v) { table[i] = v; return steps[1]; }
int written_wrong(unsigned i, int v) { table[i] = v; return steps[1] + (i == 3); }
#ifdef EXTRA
const double factor = 2.5;
double scaled(double x) { return x * 3.25 + factor; }
const char *text(void) { return "beside the table"; }
#endif
