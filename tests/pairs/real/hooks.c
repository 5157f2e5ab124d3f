/* Functions behind the pointers of a global structure that unoptimised code passes on by its address. */

struct hooks {
    void *(*allocate)(unsigned long size);
    void (*release)(void *block);
};

struct node {
    struct node *next;
    char *name;
    int type;
};

extern struct hooks hooks, spare;

static struct node *made(const struct hooks *of, int type)
{
    struct node *node = of->allocate(sizeof *node);
    if (node)
        node->type = type;
    return node;
}

static void *replaced(const struct hooks *of, void *old, unsigned long size)
{
    if (old)
        of->release(old);
    return of->allocate(size);
}

int numbered(int type)
{
    struct node *node = made(&hooks, type);
    return node != 0;
}

int numbered_spare(int type)
{
    struct node *node = made(&spare, type);
    return node != 0;
}

int again(void *old, unsigned long size)
{
    return replaced(&hooks, old, size) != 0;
}

int again_before(void *old, unsigned long size)
{
    void *fresh = hooks.allocate(size);
    if (old)
        hooks.release(old);
    return fresh != 0;
}
