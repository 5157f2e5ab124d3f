/* Outside code is told whether a pointer is null, and only then is it used: if that code does not come back, it is not
   used at all, and may be null. */
void told(int is_low);

int sums(int *p, int *q, int n) {
    told((unsigned long)p < 4096);
    int s = p[0] + q[0];
    for (int i = 0; i < n; i++) s += p[i] + q[i];
    return s;
}
int sums_untold(int *p, int *q, int n) {
    told(0);
    int s = p[0] + q[0];
    for (int i = 0; i < n; i++) s += p[i] + q[i];
    return s;
}
