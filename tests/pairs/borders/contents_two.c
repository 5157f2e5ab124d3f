/* Two pointers to one variable, or to one each. */
#ifdef TWO
static int one, other;
int *first = &one, *second = &other;
#else
static int both;
int *first = &both, *second = &both;
#endif

int stores(void) {
    *first = 1;
    return *second;
}
