/* Sizes from a table behind a check of the index, and what is computed from them. */

struct preferences {
    unsigned block, linked, checked;
    unsigned long content;
    unsigned flush;
};

const char *const names[] = {"fine", "memory", "size", "block", "checksum", "header", "frame", "version"};
static const unsigned long sizes[4] = {1ul << 16, 1ul << 18, 1ul << 20, 1ul << 22};

#define SIZE_OF(name, least)                                                                                           \
    static unsigned long name(unsigned id)                                                                             \
    {                                                                                                                  \
        if (id == 0)                                                                                                   \
            id = 4;                                                                                                    \
        if (id < least || id > 7)                                                                                      \
            return (unsigned long)-2;                                                                                  \
        return sizes[id - 4];                                                                                          \
    }

SIZE_OF(size_of, 4)

#define NEEDED(name, step)                                                                                             \
    unsigned long name(unsigned long size, const struct preferences *given, unsigned long held)                       \
    {                                                                                                                  \
        struct preferences none = {0, 0, 1, 0, 0};                                                                     \
        const struct preferences *chosen = given ? given : &none;                                                      \
        unsigned flush = chosen->flush | (size == 0);                                                                  \
        unsigned long block = size_of(chosen->block);                                                                  \
        unsigned long most = block - 1;                                                                                \
        unsigned long kept = held < most ? held : most;                                                                \
        unsigned long total = size + kept;                                                                             \
        unsigned full = (unsigned)(total / block);                                                                     \
        unsigned long last = flush ? (total & (block - 1)) : 0;                                                        \
        unsigned blocks = full + (last > step);                                                                        \
        return (4 + 4ul * chosen->checked) * blocks + block * full + last + 4;                                         \
    }

NEEDED(needed, 0)
NEEDED(needed_less, 1)

/* One entry before the table: what is there is another object. */
SIZE_OF(size_of_four, 4)

unsigned long picked(unsigned id)
{
    return size_of_four(id);
}

unsigned long picked_other(unsigned id)
{
    if (id == 0)
        id = 5;
    if (id < 4 || id > 7)
        return (unsigned long)-2;
    return sizes[id - 4];
}

const char *name_of(unsigned id)
{
    return names[id & 7];
}
