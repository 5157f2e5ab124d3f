int read_value(int port);
void write_value(int port, int value);
void log_line(const char *text, int number);
long mix(long a, long b);

int poll(int port, int limit)
{
    int value = read_value(port);
    //? operand | int value = read_value(limit);
    if (value < 0) {
    //? comparison | if (value <= 0) {
        log_line("bad", value);
        //? operand | log_line("bad", port);
        return -1;
        //? constant | return -2;
    }
    if (value > limit)
    //? signedness | if ((unsigned)value > (unsigned)limit)
        value = limit;
    write_value(port + 1, value);
    //? constant | write_value(port + 2, value);
    //? missing call | ;
    //? operand | write_value(port + 1, limit);
    return value;
}

void twice(int a, int b)
{
    write_value(1, a);
    //? constant | write_value(3, a);
    write_value(2, b); log_line("done", a);
    //? reordered call | log_line("done", a); write_value(2, b);
    //? missing call | write_value(2, b);
    write_value(3, a + b);
    //? operator | write_value(3, a - b);
    //? extra call | write_value(3, a + b); write_value(4, 0);
}

long chain(long x, long y, int depth)
{
    long first = mix(x, y);
    //? operand | long first = mix(y, x);
    long second = mix(first, depth);
    //? operand | long second = mix(first, y);
    if (second & 1)
    //? constant | if (second & 2)
        second = mix(second, 3);
        //? constant | second = mix(second, 5);
    return first ^ second;
    //? operator | return first + second;
}

int drain(int *count, int port)
{
    int total = 0;
    if (*count > 0) {
    //? comparison | if (*count >= 0) {
        total = read_value(port);
        *count = *count - 1;
        //? constant | *count = *count - 2;
        //? missing store | ;
    }
    if (*count > 0) {
        total += read_value(port) * 2;
        //? constant | total += read_value(port) * 3;
        *count = *count - 1;
    }
    write_value(port, *count);
    //? operand | write_value(port, total);
    return total;
}
