/* zig's clang stores the padding of a structure that is built from zeros piece by piece, in stores of several sizes. */
struct pieces { signed char a; float b; unsigned char c; };
void copied(struct pieces *p, struct pieces from) { *p = from; }
void built(struct pieces *p, struct pieces from)
{
    struct pieces made = {0};
    made.a = from.a;
    made.b = from.b;
    made.c = from.c;
    *p = made;
}
void built_wrong(struct pieces *p, struct pieces from)
{
    struct pieces made = {0};
    made.a = from.a;
    made.b = from.b;
    made.c = from.a;
    *p = made;
}
void written_to(struct pieces *p, struct pieces from)
{
    *p = from;
    ((char *)p)[1] = 5;
}
