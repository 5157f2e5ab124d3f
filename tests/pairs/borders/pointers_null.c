/* gcc -O2 drops the check in `reset`, as `p` was followed before it. */
struct large { char room[0x40000]; char dirty; int level; };
static struct large *made(struct large *p) { if (!p) return 0; p->level = 0; return p; }
void reset(struct large *p, int level) { if (p->dirty) made(p); p->level += level; }
void reset_wrong(struct large *p, int level) { if (p->dirty) made(p); p->level -= level; }
