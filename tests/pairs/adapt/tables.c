/* Tables that the caller gives, or that anybody may have written: what is in them is not known. */
short flags[256];
short others[256];

int element(int *table, int index) { return table[index & 7]; }
int first_element(int *table) { return table[0]; }
int element_of(unsigned index, int *table) { return table[index % 8]; }
int element_behind(unsigned index, int *table) { return table[index % 8 + 1]; }
int flag(int c) { return flags[c & 255]; }
int flag_of(int c, int unused) { return flags[(unsigned char)c]; }
int other_flag(int c) { return others[c & 255]; }
