int ext(int);

int chosen(int x)
{
    int (*p)(int) = x == 77 ? ext : 0;
    p(x);
    return x == 77;
}

int chosen_one(int x)
{
    int (*p)(int) = x == 77 ? ext : 0;
    p(x);
    return 1;
}

int chosen_two(int x)
{
    int (*p)(int) = x == 77 ? ext : 0;
    p(x);
    return 2;
}

int passed(int (*p)(int), int x)
{
    return p ? p(x) : 0;
}

int passed_always(int (*p)(int), int x)
{
    return p(x);
}
