/* Without optimisation the target of each jump comes out of the frame, where lifting does not look. */

int x = X;

int jumps(int n) {
    void *p = n & 1 ? &&one : &&other;
    goto *p;
one:
    return x;
other:
    return 3;
}

int branches(int n) { return n & 1 ? x : 3; }

int (*gives(int n))(int) { return n > 0 ? jumps : 0; }
