"""Symbols that the linker decides: weak ones, interposed ones, threads' own, and where objects are placed."""

from __future__ import annotations

from random import Random

from soundness.borders.case import Case
from soundness.borders.harness import calls, whole
from soundness.borders.kinds import INT, LONG

_BY_PLACE: tuple[tuple[str, str, str, str], ...] = (
    ("order of objects", "int a, b;", "return &a < &b;", "return @;"),
    ("order of outside objects", "extern int a, b;", "return &a < &b;", "return @;"),
    (
        "order through pointers",
        "extern int a[], b[];",
        "int *p = x ? a : b; return p < a + 1;",
        "int *p = x ? a : b; return @;",
    ),
    ("high bits", "int a;", "return (long)&a >> 31 == 0;", "return @;"),
    (
        "high bits, outside",
        "extern int a;",
        "return (unsigned long)&a >> 47 == 0 && (unsigned long)&a >> 32 == 0;",
        "return @;",
    ),
    ("low bits", "extern int a;", "return ((long)&a & 15) == 0;", "return @;"),
    ("low bits of a byte", "extern char a;", "return ((long)&a & 3) == 0;", "return @;"),
    ("distance", "int a, b;", "return (char *)&a - (char *)&b == 4;", "return @;"),
    ("distance of members of two objects", "extern int a[4], b[4];", "return b - a > 4;", "return @;"),
    ("order of functions", "int g(int); int h(int);", "return (long)g < (long)h;", "return @;"),
    ("weak function", "extern int w(int) __attribute__((weak));", "return w ? w(x) : 5;", "return w(x);"),
    ("weak function never there", "extern int w(int) __attribute__((weak));", "return w ? w(x) : 5;", "return 5;"),
    ("weak object", "extern int w __attribute__((weak));", "return &w ? w : 5;", "return w;"),
    ("weak definition", "__attribute__((weak)) int w(int x) { return x + 1; }", "return w(x);", "return x + 1;"),
)


_RESOLVED = (
    "static int one(int x) { return x + @; }\nstatic int (*resolve(void))(int) { return one; }\n"
    'int picked(int) __attribute__((ifunc("resolve")));\nlong f(long x) { return picked(x); }\n'
)


def resolved(random: Random) -> Case:
    """A function that a resolver of the same file picks when the program starts."""
    differs = random.random() < 0.6
    left, right = (_RESOLVED.replace("@", value) for value in ("1", "2" if differs else "1"))
    return Case("ifunc", left, right, not differs, "the function that is picked", differs=differs)


def placement(random: Random) -> Case:
    """What depends on where the linker puts things is not equivalent to one answer."""
    name, extra, left, right = random.choice(_BY_PLACE)
    answer = random.choice(("0", "1"))
    texts = (f"{extra}\nlong f(long x) {{ {body} }}\n" for body in (left, right.replace("@", answer)))
    first, second = texts
    flags = ("-fno-builtin",)
    violated = {"weak object": ("valid-memory",), "weak definition": ("not-interposed",)}.get(name, ())
    # What one file has of its own is where its linker put it.
    forms = ("object", "library", "program") if extra.startswith("extern") else ("object",)
    change = f"{name} against {answer}"
    made = Case("placement", first, second, False, change, differs=True, flags=flags, violates=violated, forms=forms)
    return made if random.random() < 0.7 else made.swapped()


_SYMBOLS: tuple[tuple[str, str, str, str], ...] = (
    ("weak function", "extern int w(int) __attribute__((weak));", "if (w) return w(x @+ 0@); return 5;", "+ 1"),
    (
        "weak function, absent",
        "extern int absent(int) __attribute__((weak));",
        "if (absent) return absent(x); return @5@;",
        "6",
    ),
    ("weak object", "extern int wo __attribute__((weak));", "if (&wo) return wo + x; return @5@;", "6"),
    ("thread's own, outside", "extern __thread int tls;", "tls += x @+ 0@; return tls;", "+ 1"),
    (
        "address of thread's own",
        "extern __thread int tls; void take(int *);",
        "take(&tls); tls = x @+ 0@; return 1;",
        "+ 1",
    ),
    (
        "thread's own array",
        "static __thread int t[4]; void take(int *);",
        "t[x & 3] = y; take(&t[@1@]); return t[2];",
        "2",
    ),
    ("alias", 'int own = 3; extern int second __attribute__((alias("own")));', "second += x; return own @+ 0@;", "+ 1"),
    (
        "function alias",
        'static int h(int x) { return x * 3; } int second(int) __attribute__((alias("h")));',
        "return second(x @+ 0@) + y;",
        "+ 1",
    ),
    (
        "hidden",
        '__attribute__((visibility("hidden"), noinline)) int h(int x) { return x * @3@; }',
        "return h(x) + h(y);",
        "4",
    ),
    ("global helper", "__attribute__((noinline)) int h(int x) { return x * @3@; }", "return h(x) + h(y);", "4"),
    ("common", "int common;", "common = x @+ 0@; return common + y;", "+ 1"),
    ("outside object", "extern int outside_object;", "outside_object += x @+ 0@; return outside_object;", "+ 1"),
    ("outside array", "extern int outside_array[];", "outside_array[x & 3] = y @+ 0@; return outside_array[1];", "+ 1"),
    ("outside constant", "extern const int outside_constant[];", "return outside_constant[x & 3] @+ 0@;", "+ 1"),
    (
        "address of an object passed",
        "extern int outside_array[]; void take(int *);",
        "take(outside_array + @1@); return 0;",
        "2",
    ),
    (
        "address of an object stored",
        "extern int outside_array[]; extern int *kept;",
        "kept = &outside_array[x & @3@]; return 0;",
        "1",
    ),
    ("address of a static stored", "static int own[8]; extern int *kept;", "own[@2@] = x; kept = own; return 0;", "3"),
    (
        "address of a function passed",
        "int one(int); int two(int); void take_function(int (*)(int));",
        "take_function(@one@); return 0;",
        "two",
    ),
    ("tail call", "int one(int); int two(int);", "return @one@(x);", "two"),
    ("errno", "int *__errno_location(void);", "*__errno_location() = x @+ 0@; return -1;", "+ 1"),
)

_DRIVER = whole(
    [INT, LONG],
    r"""
int w(int x) { record(1); record(x); depend(); int r = drawn(); clobber(); return r; }
int wo = 12, outside_object = 9, outside_array[16], *kept; const int outside_constant[8] = {5, 6, 7, 8};
__thread int tls = 4; static int errno_;
int *__errno_location(void) { return &errno_; }
void take(int *p) { record((word)p); record(*p); }
int one(int x) { record(2); record(x); depend(); int r = drawn(); clobber(); return r; }
int two(int x) { record(3); record(x); depend(); int r = drawn(); clobber(); return r; }
void take_function(int (*p)(int)) { record(4); record(p(3)); }
int f(int, int);
"""
    + calls(
        INT,
        [INT, INT],
        before="kept = 0; for (int i = 0; i < 16; i++) outside_array[i] = i;",
        after="record(outside_object); record(tls); record(errno_);"
        " for (int i = 0; i < 16; i++) record(outside_array[i]);"
        " if (kept) for (int i = 0; i < 8; i++) record(kept[i]);",
    ),
)


def symbols(random: Random) -> Case:
    name, extra, body, other = random.choice(_SYMBOLS)
    differs = random.random() < 0.5
    start, value, end = f"{extra}\nint f(int x, int y) {{ {body} }}\n".split("@")
    left, right = start + value + end, start + (other if differs else value) + end
    change = f"{name}, {'planted' if differs else 'another level'}"
    # Addresses of the objects themselves depend on the linked program, so they are recorded by what is there.
    harness = _DRIVER.replace("record((word)p); record(*p);", "for (int i = 0; i < 2; i++) record(p[i]);")
    # In a program the linker may have decided that a weak symbol is null.
    forms = ("object", "library") if name.startswith("weak") else ("object", "library", "program")
    return Case("symbols", left, right, not differs, change, harness, forms=forms)
