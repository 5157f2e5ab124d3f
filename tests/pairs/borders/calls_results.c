/* What comes back from functions that are not here: what their type allows, the same for both; the rest is anything. */
extern _Bool is_ready(int);
extern char letter(int);
extern float ratio(int);
struct pair { char a; int b; };
extern struct pair two(int);
int ready(int x) { return is_ready(x); }
int ready_same(int x) { return is_ready(x) ? 1 : 0; }
int ready_other(int x) { return is_ready(x) ? 2 : 0; }
long wide(int x) { return letter(x); }
long wide_same(int x) { return (long)(char)letter(x); }
long wide_other(int x) { return (unsigned char)letter(x); }
float half(int x) { return ratio(x) * 0.5f; }
float half_same(int x) { return 0.5f * ratio(x); }
float half_other(int x) { return 0.5f * ratio(x) + 1; }
int sum(int x) { struct pair p = two(x); return p.a + p.b; }
int sum_same(int x) { struct pair p = two(x); return p.b + p.a; }
int sum_other(int x) { struct pair p = two(x); return p.b - p.a; }
