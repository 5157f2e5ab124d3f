/* A library function that has two names: its definition has one, and callers use the other. */

int lower(int);

int own_is_upper(int c, void *locale) {
    (void)locale;
    return lower(c) != c;
}
extern __typeof(own_is_upper) is_upper __attribute__((weak, alias("own_is_upper")));

int own_is_upper_broken(int c, void *locale) {
    (void)locale;
    return lower(c) == c;
}
extern __typeof(own_is_upper_broken) is_upper_broken __attribute__((weak, alias("own_is_upper_broken")));
