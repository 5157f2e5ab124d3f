/* Variables of one name in several functions: compilers number them in whatever order they come. */
static int helps(int x) {
    static int count;
    return count += x;
}
int uses(int x) {
    static int count;
    return helps(x) + count++;
}
int sums(int x) {
    static int count = 3;
    return count += helps(x);
}
