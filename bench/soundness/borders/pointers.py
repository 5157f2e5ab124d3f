"""Addresses of functions that leave the pair, or that it calls through."""

from __future__ import annotations

from random import Random

from soundness.borders.case import Case
from soundness.borders.harness import calls, whole
from soundness.borders.kinds import INT

_BODIES = (
    ("return x + 1;", "return x - -1;", "return x + 2;"),
    ("return x * 5;", "return (x << 2) + x;", "return x * 6;"),
    ("return x > 7 ? x : 7;", "if (x <= 7) x = 7; return x;", "return x > 77 ? x : 77;"),
    ("return x == 77;", "return !(x ^ 77);", "return x == 78 - (x == 100);"),
    ("memory[5] += x; return 0;", "memory[5] = x + memory[5]; return 0;", "memory[6] += x; return 0;"),
    ("return x & 255;", "return (unsigned char)x;", "return (signed char)x;"),
)
"""A body, one that does the same, and one that does not."""

_DRIVER = whole(
    [INT],
    r"""
typedef int (*handler)(int);
handler kept_; handler *where_;
int apply(handler h, int x) { record(1); int r = h(x); record(r); return r; }
void each(int *p, long n, void (*h)(int *)) { record(2); for (long i = 0; i < n; i++) h(p + i); }
void register_handler(int n, handler h) { record(3); record(n); kept_ = h; }
void sort(void *p, long n, long size, int (*c)(const void *, const void *)) {
    int *a = p; record(n); record(size);
    for (long i = 1; i < n; i++) for (long j = i; j > 0 && c(a + j, a + j - 1) < 0; j--) {
        int t = a[j]; a[j] = a[j - 1]; a[j - 1] = t; } }
struct ops { int (*first)(int); int kind; int (*second)(int); };
void use_ops(const struct ops *o, int x) { record(o->kind); record(o->first(x)); record(o->second(x)); }
handler fp __attribute__((weak)); struct ops current __attribute__((weak));
int f(int, int);
"""
    + calls(INT, [INT, INT], before="kept_ = 0; ", after="if (kept_) record(kept_(a0)); if (fp) record(fp(a1));"),
)

_HEAD = "extern int memory[64];\ntypedef int (*handler)(int);\n"
_FORMS: dict[str, tuple[str, str]] = {
    "table": ("static handler const t[] = {h, k};", "return t[y & 1](x);"),
    "writable table": ("static handler t[] = {h, k};", "return t[y & 1](x);"),
    "global table": ("handler t[] = {h, k};", "return t[y & 1](x);"),
    "table in function": ("", "static handler const t[] = {k, h}; return t[y & 1](x);"),
    "argument": ("int apply(handler, int);", "return apply(h, x);"),
    "either": ("int apply(handler, int);", "return apply(y ? h : k, x);"),
    "registered": ("void register_handler(int, handler);", "register_handler(y, h); return 0;"),
    "global": ("extern handler fp;", "fp = y ? h : k; return x;"),
    "operations": (
        "struct ops { int (*first)(int); int kind; int (*second)(int); };\nstatic const struct ops o = {h, 3, k};",
        "return y ? o.first(x) : o.second(x);",
    ),
    "operations passed": (
        "struct ops { int (*first)(int); int kind; int (*second)(int); };\nvoid use_ops(const struct ops *, int);\n"
        "static const struct ops o = {h, 3, k};",
        "use_ops(&o, x); return 0;",
    ),
    "operations made": (
        "struct ops { int (*first)(int); int kind; int (*second)(int); };\nvoid use_ops(const struct ops *, int);",
        "struct ops o = {h, y, k}; use_ops(&o, x); return 0;",
    ),
    "chosen": ("", "handler p = y > 5 ? h : k; return p(x);"),
    "volatile": ("", "handler volatile p = h; return p(x) + k(y);"),
    "called": ("", "return h(x) + k(y);"),
    "returned and called": ("static handler choose(int y) { return y ? h : k; }", "return choose(y)(x);"),
    "in a local table": ("", "handler t[2]; t[0] = h; t[1] = k; return t[y & 1](x);"),
    "table of tables": (
        "static handler const t0[] = {h, k};\nstatic handler const t1[] = {k, k};\n"
        "static handler const *const tt[] = {t0, t1};",
        "return tt[y & 1][y >> 1 & 1](x);",
    ),
    "labels": (
        "",
        "static void *const t[] = {&&first, &&second, &&third}; goto *t[(unsigned)y % 3];"
        " first: return h(x); second: return k(x); third: return 3;",
    ),
    "compared": ("int apply(handler, int); extern handler fp;", "return fp == h ? h(x) : fp == k ? 2 : 3;"),
    "switch": (
        "",
        "switch (y & 7) { case 0: return h(x); case 1: return k(x); case 2: return 3; case 3: return h((int)(x + 1u));"
        " case 4: return 9; case 5: return k((int)(x + 2u)); default: return 1; }",
    ),
}


def function_addresses(random: Random) -> Case:
    name = random.choice(tuple(_FORMS))
    extra, body = _FORMS[name]
    first, second = random.sample(_BODIES, 2)
    differs = random.random() < 0.55
    one, other = (first[0], first[2] if differs else first[1])
    linkage = random.choice(("static", "static", "static __attribute__((noinline))", "__attribute__((noinline))"))
    renamed = not differs and linkage.startswith("static") and random.random() < 0.2

    def text(of_h: str) -> str:
        return (
            f"{_HEAD}{linkage} int h(int x) {{ {of_h} }}\n{linkage} int k(int x) {{ {second[0]} }}\n"
            f"{extra}\nint f(int x, int y) {{ {body} }}\n"
        )

    right = text(other)
    if renamed:
        right = (
            right.replace(" h(", " hh(")
            .replace("h,", "hh,")
            .replace("h}", "hh}")
            .replace("h;", "hh;")
            .replace("h :", "hh :")
        )
        renamed = " hh(int" in right
    change = f"{name}, {'another' if differs else 'the same'} body{', renamed' if renamed else ''} ({linkage})"
    options = ("--calls", "inline") if random.random() < 0.2 else ()
    return Case("function address", text(one), right, not differs, change, _DRIVER, options=options)


_COMPARISONS = (
    (
        "int a = *(const int *)p, b = *(const int *)q; return a < b ? -1 : a > b;",
        "int a = *(const int *)p, b = *(const int *)q; return (a > b) - (a < b);",
        "int a = *(const int *)p, b = *(const int *)q; return a > b ? -1 : a < b;",
    ),
    (
        "unsigned char a = *(const unsigned char *)p, b = *(const unsigned char *)q; return (a > b) - (a < b);",
        "unsigned char a = *(const unsigned char *)p, b = *(const unsigned char *)q; return a < b ? -1 : a > b;",
        "signed char a = *(const signed char *)p, b = *(const signed char *)q; return a < b ? -1 : a > b;",
    ),
)


def callbacks(random: Random) -> Case:
    one, same, other = random.choice(_COMPARISONS)
    differs = random.random() < 0.55
    linkage = random.choice(("static", "static", "__attribute__((noinline))"))
    chosen = random.choice(("sort(p, 5, 4, cmp);", "sort(p, 3 + (n & 1), sizeof(int), cmp); p[7] = n;"))

    def text(body: str) -> str:
        return (
            "void sort(void *, long, long, int (*)(const void *, const void *));\n"
            f"{linkage} int cmp(const void *p, const void *q) {{ {body} }}\n"
            f"int f(int *p, int n) {{ {chosen} return p[0]; }}\n"
        )

    harness = _DRIVER.replace("int f(int, int);", "int f(int *, int);").replace("f(a0, a1)", "f(memory, a1)")
    change = f"{'another' if differs else 'the same'} comparison ({linkage})"
    return Case("callback", text(one), text(other if differs else same), not differs, change, harness)


def initial_pointer(random: Random) -> Case:
    """Pointers to functions in the initial contents of data that f hands out, reads or only changes."""
    differs = random.random() < 0.6
    first = random.choice(_BODIES)
    forms = (
        ("handler fp = h;", "return fp(x);"),
        ("static handler fq = h;", "return fq(x);"),
        (
            "struct ops { handler first; int kind; handler second; }; struct ops current = {h, 1, h};",
            "return current.first(x) + current.kind + y;",
        ),
        (
            "struct ops { handler first; int kind; handler second; }; static struct ops o = {h, 1, h};\n"
            "void use_ops(const struct ops *, int);",
            "o.kind = y; use_ops(&o, x); return 0;",
        ),
    )
    extra, body = random.choice(forms)
    linkage = random.choice(("static", "static __attribute__((noinline))", ""))

    def text(of_h: str) -> str:
        return f"{_HEAD}{linkage} int h(int x) {{ {of_h} }}\n{extra}\nint f(int x, int y) {{ {body} }}\n"

    change = f"{'another' if differs else 'the same'} body behind initial data"
    right = text(first[2] if differs else first[1])
    return Case("function address", text(first[0]), right, not differs, change, _DRIVER)
