struct point { int x, y; short z; unsigned char tag; long weight; };

void move(struct point *p, int dx, int dy)
{
    p->x += dx;
    //? operand | p->x += dy;
    //? missing store | ;
    p->y += dy;
    //? operator | p->y -= dy;
    p->z = (short)(p->x + p->y);
    //? operand | p->z = (short)(p->x + p->x);
    //? missing store | ;
    p->tag |= 4;
    //? constant | p->tag |= 8;
    p->weight = p->weight * 2 + dx;
    //? width | p->weight = (int)(p->weight * 2 + dx);
    //? extra store | p->weight = p->weight * 2 + dx; p->y = 0;
}

long norm(const struct point *p, const struct point *q)
{
    long dx = (long)p->x - q->x;
    //? width | long dx = p->x - q->x;
    //? operand | long dx = (long)p->x - q->y;
    long dy = (long)p->y - q->y;
    if (dx < 0)
        dx = -dx;
        //? missing store | ;
    if (dy < 0)
    //? comparison | if (dy > 0)
        dy = -dy;
    long heavy = p->weight > q->weight ? p->weight : q->weight;
    //? comparison | long heavy = p->weight < q->weight ? p->weight : q->weight;
    return dx + dy + heavy + p->tag;
    //? operand | return dx + dy + heavy + q->tag;
    //? operator | return dx - dy + heavy + p->tag;
}

void swap_sorted(int *a, int *b, int *c)
{
    int t;
    if (*a > *b) {
    //? comparison | if (*a < *b) {
        t = *a;
        *a = *b;
        //? missing store | ;
        *b = t;
        //? operand | *c = t;
    }
    if (*b > *c) {
    //? operand | if (*a > *c) {
        t = *b;
        *b = *c;
        *c = t;
        //? constant | *c = t + 1;
    }
    if (*a > *b) {
        t = *a;
        *a = *b;
        *b = t;
        //? missing store | ;
    }
}

struct packet { unsigned char kind, flags; unsigned short length; unsigned id; unsigned char data[8]; };

int header(struct packet *p, const unsigned char *raw)
{
    p->kind = raw[0];
    //? operand | p->kind = raw[1];
    p->flags = raw[1] & 0x7f;
    //? constant | p->flags = raw[1] & 0x3f;
    p->length = (unsigned short)(raw[2] << 8 | raw[3]);
    //? operand | p->length = (unsigned short)(raw[3] << 8 | raw[2]);
    p->id = (unsigned)raw[4] << 24 | raw[5] << 16 | raw[6] << 8 | raw[7];
    //? constant | p->id = (unsigned)raw[4] << 24 | raw[5] << 16 | raw[6] << 9 | raw[7];
    p->data[0] = raw[8];
    //? missing store | ;
    p->data[1] = raw[9] ^ raw[8];
    //? operator | p->data[1] = raw[9] | raw[8];
    if (p->length > 64 || p->kind == 0)
    //? comparison | if (p->length >= 64 || p->kind == 0)
    //? constant | if (p->length > 63 || p->kind == 0)
        return -1;
    return p->length + 8;
    //? constant | return p->length + 12;
}

int counter;
int history[4];

int record(int value)
{
    history[3] = history[2];
    //? missing store | ;
    history[2] = history[1];
    //? operand | history[2] = history[0];
    history[1] = history[0];
    history[0] = value;
    counter += value > 0;
    //? comparison | counter += value >= 0;
    //? extra store | counter += value > 0; history[2] = 1;
    return counter + history[1];
    //? operand | return counter + history[2];
}
