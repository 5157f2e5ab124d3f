/* Two variables that hold the same at first are not one. */
static int first = 1, second = 1;
#ifdef OTHER
int *place = &second;
#else
int *place = &first;
#endif

int stores(void) {
    *place = 3;
    return first;
}

void set(int value) { first = second = value; }
