/* Locals that a callee fills: what the frame held there before says nothing. */
void fill(int *);
void look(int *);

int filled(void) {
    int value;
    fill(&value);
    return value + MORE;
}

int shared_slot(void) {
    {
        int old = 5;
        look(&old);
    }
    {
        int value;
        fill(&value);
        return value + MORE;
    }
}
