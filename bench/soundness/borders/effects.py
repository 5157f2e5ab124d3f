"""What an outside function can see when it is called, which calls are made, and what addresses given back lead to."""

from __future__ import annotations

from random import Random

from soundness.borders.case import Case
from soundness.borders.harness import calls, whole
from soundness.borders.kinds import INT, LONG

_DRIVER = whole(
    [INT, LONG],
    r"""
int shared, table[8], *kept; const char *name;
void look(void) { record(5); record(shared); for (int i = 0; i < 8; i++) record(table[i]); if (kept) record(*kept);
    clobber(); }
void keep(int *p) { kept = p; clobber(); }
int ask(int x) { record(x); depend(); int r = drawn(); clobber(); return r; }
void tell(int x, int y) { record(7); record(x); record(y); clobber(); }
int change(void) { depend(); shared = drawn(); table[drawn() & 7] = drawn(); if (kept) *kept = drawn(); int r = drawn();
    clobber(); return r; }
int f(int, int);
"""
    + calls(
        INT,
        [INT, INT],
        before="kept = 0; name = 0; shared = drawn(); for (int i = 0; i < 8; i++) table[i] = drawn();",
        after="kept = 0; look(); if (name) record(*name);",
    ),
)
_HEAD = (
    "extern int shared, table[8], *kept; extern const char *name; void look(void); void keep(int *); int ask(int);\n"
    "void tell(int, int); int change(void);\n"
)
_SEEN: tuple[tuple[str, str, bool], ...] = (
    ("shared = x; look(); shared = y; return 0;", "look(); shared = y; return 0;", False),
    ("shared = x; look(); shared = y; return 0;", "shared = x; shared = x; look(); shared = y; return 0;", True),
    ("change(); return shared;", "change(); change(); return shared;", False),
    ("change(); return shared;", "int r = shared; change(); return r;", False),
    ("int l = x; keep(&l); l = 1; look(); return l;", "int l = x; keep(&l); l = 3; look(); return l;", False),
    (
        "int l = x; keep(&l); l = 1; look(); l = 2; kept = 0; return 0;",
        "int l = x; keep(&l); look(); kept = 0; return 0;",
        False,
    ),
    ("int l = x; keep(&l); change(); kept = 0; return l;", "int l = x; keep(&l); change(); kept = 0; return x;", False),
    ("int l = x; kept = &l; look(); kept = 0; return 0;", "int l = y; kept = &l; look(); kept = 0; return 0;", False),
    (
        "int l[2] = {x, y}; keep(l + 1); look(); kept = 0; return l[0];",
        "int l[2] = {x, x}; keep(l + 1); look(); kept = 0; return l[0];",
        False,
    ),
    (
        "int l = x; keep(&l); look(); kept = 0; return l;",
        "int l; l = x; int unused = 5; keep(&l); look(); kept = 0; return l;",
        True,
    ),
    (
        "table[x & 7] = y; table[y & 7] = x; look(); return 0;",
        "table[y & 7] = x; table[x & 7] = y; look(); return 0;",
        False,
    ),
    ("tell(1, x); tell(2, y); return 0;", "tell(2, y); tell(1, x); return 0;", False),
    ("if (x * 31 == y * 17 + 7) tell(1, 2); return 0;", "if (x * 31 == y * 17 + 8) tell(1, 2); return 0;", False),
    ("if (x == 77) tell(1, y); return 0;", "if (x == 77 && y != 5) tell(1, y); return 0;", False),
    ("if (x > 5) tell(x, 1); else tell(x, 2); return 0;", "tell(x, x > 5 ? 1 : 2); return 0;", True),
    ("if (x) tell(x, y); return 0;", "if (x) tell(x, y); else tell(0, 0); return 0;", False),
    ("int r = ask(x); if (r == 5) tell(r, 1); return r;", "int r = ask(x); if (r == 5) tell(5, 1); return r;", True),
    ("int r = ask(x); if (r == 5) tell(r, 1); return r;", "int r = ask(x); if (r == 7) tell(r, 1); return r;", False),
    ("return ask(x) + ask(x);", "return 2 * ask(x);", False),
    ("int a = ask(x), b = ask(y); return a - b;", "int b = ask(y), a = ask(x); return a - b;", False),
    (
        "for (int i = 0; i < (x & 7); i++) tell(i, y); return 0;",
        "for (int i = 0; i < (x & 7); i++) tell(i, y + (i == 6)); return 0;",
        False,
    ),
    (
        "for (int i = 0; i < (x & 7); i++) tell(i, y); return 0;",
        "for (int i = 0, n = x & 7; n; n--) tell(i++, y); return 0;",
        True,
    ),
    (
        "for (int i = 0; i < (x & 7); i++) { int r = ask(i); shared += r; } return 0;",
        "int s = shared; for (int i = 0; i < (x & 7); i++) s += ask(i); shared = s; return 0;",
        False,
    ),
    (
        "int s = 0; for (int i = 0; i < (x & 3); i++) s += ask(s); return s;",
        "int s = 0; for (int i = 0; i < (x & 3); i++) s += ask(s) | (s == 77); return s;",
        False,
    ),
    ("for (int i = 0; i < 3; i++) tell(i, x); return 0;", "tell(0, x); tell(1, x); tell(2, x); return 0;", True),
    (
        "for (int i = 0; i < 3; i++) tell(i, x); return 0;",
        "tell(0, x); tell(1, x); tell(2, x + (x == 77)); return 0;",
        False,
    ),
    ("while (ask(x) & 1) x++; return x;", "for (;; x++) if (!(ask(x) & 1)) return x;", True),
    ("while (ask(x) & 1) x++; return x;", "while (ask(x) & 1) x += 1 + (x == 77); return x;", False),
)


def seen(random: Random) -> Case:
    """Memory as an outside function sees it, and the calls themselves."""
    left, right, same = random.choice(_SEEN)
    if random.random() < 0.15:
        right, same = left, True
    texts = (f"{_HEAD}int f(int x, int y) {{ {body} }}\n" for body in (left, right))
    first, second = texts
    made = Case("seen by calls", first, second, same, f"{left} / {right}", _DRIVER)
    return made if random.random() < 0.5 else made.swapped()


_GIVEN: tuple[tuple[str, str, str, str], ...] = (
    ("literal", "", 'return x ? "ab@c@" : "d";', "e"),
    ("literal stored", "extern const char *name;", 'name = y ? "@a@" : "bc"; return "x";', "q"),
    ("static text", 'static const char t[] = "ab@c@";', "return t + (x & 1);", "e"),
    ("writable text", "static char t[8];", "t[0] = x | 1; t[1] = @65@; t[2] = 0; return t;", "66"),
    ("table of text", 'static const char *const t[] = {"one", "tw@o@", "three", "x"};', "return t[x & 3];", "i"),
    ("offset", 'static const char t[] = "abcdefgh";', "return t + @1@;", "2"),
    ("through a parameter", "", '*out = x > 5 ? "lo@w@" : "high"; return "";', "g"),
    (
        "structure of text",
        'static const struct { int k; const char *t; } s[2] = {{1, "p@q@"}, {2, "r"}};',
        "return s[x & 1].t;",
        "z",
    ),
    (
        "address of a structure",
        'static const struct { const char *t; } s = {"p@q@"};',
        "*out = s.t; return *(const char *const *)&s;",
        "z",
    ),
)


def given(random: Random) -> Case:
    """An address that is given back stands for what is there."""
    name, extra, body, other = random.choice(_GIVEN)
    differs = random.random() < 0.6
    start, value, end = f"{extra}\nconst char *f(int x, int y, const char **out) {{ {body} }}\n".split("@")
    left, right = start + value + end, start + (other if differs else value) + end
    text = (
        "const char *name; static void record_text(const char *p) { if (p) while (*p) record(*p++); record(0); }\n"
        "const char *f(int, int, const char **);\n"
    )
    driver = calls(
        INT,
        [INT, INT],
        shown="const char *out = 0; name = 0; record_text(f(a0, a1, &out)); record_text(out); record_text(name);",
    )
    change = f"{name}, {'other' if differs else 'the same'} contents"
    return Case("addresses given back", left, right, not differs, change, whole([INT], text + driver))


_OWN_VARIADIC: tuple[tuple[str, str, bool], ...] = (
    (
        "int a = va_arg(l, int), b = va_arg(l, int); return a - b;",
        "int b = va_arg(l, int), a = va_arg(l, int); return a - b;",
        False,
    ),
    ("int a = va_arg(l, int); return a + n;", "return va_arg(l, int) + n;", True),
    (
        "double a = va_arg(l, double); return a > 1;",
        "va_arg(l, int); double a = va_arg(l, double); return a >= 1;",
        False,
    ),
    (
        "int s = 0; for (int i = 0; i < n; i++) s += va_arg(l, int); return s;",
        "int s = 0; while (n-- > 0) s += va_arg(l, int); return s;",
        True,
    ),
    (
        "int s = 0; for (int i = 0; i < n; i++) s += va_arg(l, int); return s;",
        "int s = 0; for (int i = 1; i < n; i++) s += va_arg(l, int); return s;",
        False,
    ),
    (
        "for (int i = 0; i < 7; i++) va_arg(l, int); return va_arg(l, int);",
        "for (int i = 0; i < 6; i++) va_arg(l, int); return va_arg(l, int);",
        False,
    ),
    ("return va_arg(l, long);", "return va_arg(l, int);", False),
)


def own_variadic(random: Random) -> Case:
    """f itself takes any number of arguments."""
    left, right, same = random.choice(_OWN_VARIADIC)
    texts = [
        "#define va_list __builtin_va_list\n#define va_arg __builtin_va_arg\n"
        f"long f(int n, ...) {{ va_list l; __builtin_va_start(l, n); {body} }}\n"
        for body in (left, right)
    ]
    driver = calls(
        LONG,
        [INT],
        shown=f"record_long(f(a0 & 7, drawn(), drawn_float(){', drawn()' * 7}));",
    )
    harness = whole([INT, LONG], "long f(int, ...);\n" + driver)
    return Case("own variadic", texts[0], texts[1], same, f"{left} / {right}", harness)


_SHOWN = {
    "--return-as bool": "record(f(a0, a1) != 0);",
    "--return-as void": "f(a0, a1);",
    "--memory ignore": "shared = 0; record_int(f(a0, a1)); shared = 0;",
    "--assume x > 5": "if (a0 > 5) record_int(f(a0, a1));",
    "--calls inline": "record_int(f(a0, a1));",
    "--aborts refine": "a1 = a1 & 7 | 1; record_int(f(a0 & 255, a1));",
}
"""By option: what it compares, and on which inputs."""
_OPTIONS: tuple[tuple[str, str, str, bool], ...] = (
    ("--return-as bool", "return x;", "return !!x;", True),
    ("--return-as bool", "return x;", "return x * 3;", True),
    ("--return-as bool", "return x;", "return x * 2;", False),
    ("--return-as bool", "return ask(x);", "return ask(x) != 0;", True),
    ("--return-as bool", "return ask(x);", "return ask(x) << 1;", False),
    ("--return-as bool", "return ask(x) == 5;", "return ask(x) == 5 ? 7 : 0;", True),
    ("--return-as void", "shared = x; return 1;", "shared = x; return 2;", True),
    ("--return-as void", "shared = ask(x); return 1;", "shared = ask(x) | (x == 77); return 1;", False),
    ("--return-as void", "tell(x, 1); return 1;", "tell(x, 2); return 1;", False),
    ("--memory ignore", "shared = x; return y;", "return y;", True),
    ("--memory ignore", "shared = x; return ask(y);", "return ask(y) + (y == 77);", False),
    ("--memory ignore", "shared = x; look(); return 1;", "look(); return 1;", False),
    ("--assume x > 5", "if (x > 5) tell(x, 1); return 0;", "tell(x, 1); return 0;", True),
    ("--assume x > 5", "if (x > 6) tell(x, 1); return 0;", "tell(x, 1); return 0;", False),
    ("--assume x > 5", "x = ask(x); if (x > 5) return 1; return 0;", "ask(x); return 1;", False),
    ("--calls inline", "return ask(x) + 1;", "return ask(x) + 2;", False),
    ("--aborts refine", "return x / y;", "return y ? x / y : 5;", True),
    ("--aborts refine", "return x / y;", "return y > 1 ? x / y : 5;", False),
    ("--aborts refine", "tell(x, 1); return x / y;", "if (y) tell(x, 2); return y ? x / y : 5;", False),
)


def options(random: Random) -> Case:
    """Every option of the contract, with calls."""
    option, left, right, same = random.choice(_OPTIONS)
    texts = [f"{_HEAD}int f(int x, int y) {{ {body} }}\n" for body in (left, right)]
    harness = _DRIVER.replace("record_int(f(a0, a1));", _SHOWN[option])
    name, value = option.split(" ", 1)
    change = f"{option}: {left} / {right}"
    return Case("options", texts[0], texts[1], same, change, harness, options=(name, value), debug=True)


_DIRECT: tuple[tuple[str, str, bool], ...] = (
    ("return p(x);", "if (p == h) return h(x); return p(x);", True),
    ("return p(x);", "if (p == h) return x + 1; return p(x);", True),
    ("return p(x);", "if (p == h) return x + 2; return p(x);", False),
    ("return p ? p(x) : 0;", "return p == h ? h(x) : p ? p(x) : 0;", True),
    ("return p == h;", "return p == k;", False),
    ("return p == h || p == k;", "return p == k || p == h;", True),
    ("p(x); return p(y);", "p(y); return p(x);", False),
    ("return p(x) + 1;", "return p(x) + 2;", False),
    ("handler q = p; return q(x);", "return (*p)(x);", True),
)


def direct(random: Random) -> Case:
    """A call through a parameter that may be one of the file's own functions."""
    left, right, same = random.choice(_DIRECT)
    head = (
        "typedef int (*handler)(int); int h(int x) { return x + 1; } int k(int x) { return x * 3; }\n"
        "handler first = h, second = k;\n"
    )
    texts = [f"{head}int f(handler p, int x, int y) {{ {body} }}\n" for body in (left, right)]
    text = (
        "typedef int (*handler)(int); extern handler first, second; int f(handler, int, int);\n"
        "int other(int x) { record(x); depend(); int r = drawn(); clobber(); return r; }\n"
    )
    driver = calls(
        INT, [INT, INT], shown="word d = drawn(); record(f(d & 1 ? other : d & 2 ? first : second, a0, a1));"
    )
    harness = whole([INT], text + driver)
    return Case("call of a parameter", texts[0], texts[1], same, f"{left} / {right}", harness)


_DEEP = (
    ("static int h(int n) { return n <= 0 ? @1@ : h(n - 1) + n; }", "2"),
    ("static int h(int n) { int s = @0@; while (n > 0) s += n--; return s; }", "1"),
    (
        "static int k(int n); static int h(int n) { return n <= 0 ? @1@ : k(n - 1); }\n"
        "static int k(int n) { return n <= 0 ? 3 : h(n - 1) + 1; }",
        "2",
    ),
    ("static __attribute__((noinline)) int h(int n) { if (n == 77) return @1@; return n > 0 ? h(n / 2) : 5; }", "2"),
)


def helpers(random: Random) -> Case:
    """Helpers that cannot be taken into the function whole: they call themselves, or have loops."""
    text, other = random.choice(_DEEP)
    differs = random.random() < 0.6
    start, value, end = f"{text}\nint f(int x, int y) {{ return h(x & 127) + y; }}\n".split("@")
    left, right = start + value + end, start + (other if differs else value) + end
    harness = whole([INT], "int f(int, int);\n" + calls(INT, [INT, INT]))
    return Case("helpers", left, right, not differs, f"{text}", harness)
