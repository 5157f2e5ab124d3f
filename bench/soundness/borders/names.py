"""Names that the library also has, callees that do not return, library functions, memory from the library."""

from __future__ import annotations

from random import Random

from soundness.borders.case import Case
from soundness.borders.harness import calls, outside, prototype, whole
from soundness.borders.kinds import DOUBLE, INT, LONG, Kind, scalar

_REUSED = (
    *("log", "read", "time", "err", "send", "exit", "abort", "write", "open", "close", "floor", "sin", "exp", "pow"),
    *(
        "strlen",
        "index",
        "abs",
        "malloc",
        "free",
        "error",
        "warn",
        "select",
        "poll",
        "signal",
        "random",
        "rand",
        "sqrt",
    ),
    *(
        "puts",
        "putchar",
        "toupper",
        "isdigit",
        "memchr",
        "strcmp",
        "printf",
        "remove",
        "rename",
        "accept",
        "bind",
        "kill",
    ),
    *("round", "trunc", "fabs", "strtol", "atoi", "qsort", "bsearch", "calloc", "realloc", "getc", "ungetc", "clock"),
)


def reused(random: Random) -> Case:
    """The program's own function of that name, with its own type, from another file."""
    name = random.choice(_REUSED)
    choices: tuple[Kind, ...] = (INT, LONG, DOUBLE, scalar("char *"), scalar("unsigned char"))
    arguments = [random.choice(choices) for _ in range(random.choice((1, 2, 3, 4)))]
    result = random.choice((INT, LONG, DOUBLE))
    differs = random.random() < 0.55
    inputs = [*arguments, INT]
    parameters = ", ".join(f"{k.name} a{n}" for n, k in enumerate(inputs))
    passed = [f"a{n}" for n in range(len(arguments))]
    last = f"a{len(arguments)}"
    other, end, twice = list(passed), "", ""
    change = "another level"
    if differs:
        draw = random.random()
        at = random.randrange(len(passed))
        if draw < 0.5:
            other[at], change = f"a{at} + 1", f"another argument {at}"
        elif draw < 0.75:
            end, change = " + 1", "another result after the call"
        else:
            twice, change = f"{name}({', '.join(passed)});", "a call more"
    declared = prototype(result, arguments, name) + "extern int memory[64];\n"

    def body(values: list[str], more: str, before: str) -> str:
        call = f"{name}({', '.join(values)})"
        lines = f"{before} {result.name} r = {call}; memory[1] = {last}{more}; return r;"
        return f"{declared}{result.name} f({parameters}) {{ {lines} }}\n"

    own = outside(name, result, arguments)
    text = own + prototype(result, inputs) + calls(result, inputs)
    harness = whole([INT, *inputs, result], text)
    left, right = body(passed, "", ""), body(other, end, twice)
    flags = ("-fno-builtin",)
    # The harness has its own strlen; one of the case is stronger, but not one of another type.
    harness = harness.replace("__attribute__((weak)) word strlen(", "static word own_strlen(")
    change = f"{name}: {change}"
    violated = ("library-prototypes",)
    return Case("reused name", left, right, not differs, change, harness, flags=flags, violates_stripped=violated)


_NO_RETURN = (
    ("if (x > 5) die(@x@); return y;", "x + 1"),
    ("if (x == 77) { memory[1] = @3@; die(1); } return y;", "4"),
    ("if (x > 5) die(x); return @y@;", "y + 1"),
    ("if (x < 0) { note(@x@); die(2); } if (y < 0) die(3); return x;", "x - 1"),
    ("switch (x & 3) { case 0: die(1); case 1: return 5; case 2: note(@2@); die(7); default: return y; }", "8"),
    ("die(@x@);", "y"),
    ("if (!x) die(y); return 100 / @x@;", "(x | 1)"),
)


def not_returning(random: Random) -> Case:
    body, other = random.choice(_NO_RETURN)
    differs = random.random() < 0.55
    name = random.choice(("die", "die", "abort_with", "exit", "fatal"))
    attribute = random.choice(("__attribute__((noreturn)) ", "_Noreturn ", "extern _Noreturn "))
    declared = f"extern int memory[64];\n{attribute}void {name}(int);\nvoid note(int);\n"
    start, value, end = body.replace("die(", f"{name}(").split("@")
    after = "int after(int x) { return x * 77; }\n"
    left, right = (
        f"{declared}int f(int x, int y) {{ {start}{chosen}{end} }}\n{after}"
        for chosen in (value, other if differs else value)
    )
    text = (
        f"__attribute__((noreturn)) void {name}(int x) {{ record(99); record(x); __builtin_longjmp(escape_, 1); }}\n"
        "void note(int x) { record(98); record(x); clobber(); }\nint f(int, int);\n"
    )
    harness = whole([INT], text + calls(INT, [INT, INT]))
    change = f"{name}: {'planted' if differs else 'another level'}"
    violated = () if differs else ("calls-agree",)  # without debug information, die may as well return
    return Case(
        "no return", left, right, not differs, change, harness, flags=("-fno-builtin",), violates_stripped=violated
    )


_MATH = ("sin", "cos", "exp", "log", "tan", "atan", "cbrt")
_EXACT = ("fabs", "floor", "ceil", "trunc", "sqrt", "rint")
_MATH_TEXT = (
    "".join(
        f"double {name}(double x) {{ double r = (double)(int)((*(word *)&x * {2 * n + 3}u) >> 40) / 16 + {n};"
        " clobber(); return r; }\n"
        for n, name in enumerate(_MATH)
    )
    + "".join(
        f'double {name}(double x) {{ double r; __asm__("{code}" : "=x"(r) : "x"(x)); clobber(); return r; }}\n'
        for name, code in (
            ("floor", "roundsd $1, %1, %0"),
            ("ceil", "roundsd $2, %1, %0"),
            ("trunc", "roundsd $3, %1, %0"),
            ("rint", "roundsd $4, %1, %0"),
            ("sqrt", "sqrtsd %1, %0"),
        )
    )
    + (
        "double fabs(double x) { *(word *)&x &= -1ul >> 1; return x; }\nint abs(int x) { return x < 0 ? -x : x; }\n"
        "int toupper(int c) { return c >= 'a' && c <= 'z' ? c - 32 : c; }\n"
        "int isdigit(int c) { return c >= '0' && c <= '9'; }\n"
        "int strcmp(const char *a, const char *b) { while (*a && *a == *b) a++, b++;"
        " return *(unsigned char *)a - *(unsigned char *)b; }\n"
    )
)
_LIBRARY: tuple[tuple[str, str, bool], ...] = (
    ("return M(x) + M(x);", "return 2 * M(x);", True),
    ("double a = M(x), b = N(y); return a - b;", "double b = N(y), a = M(x); return a - b;", True),
    ("M(y); return M(x);", "return M(x);", True),
    ("return n ? M(x) : 0;", "double r = M(x); return n ? r : 0;", True),
    ("return M(x);", "return N(x);", False),
    ("return M(x);", "return M(x + 1);", False),
    ("return M(x);", "return n == 77 ? M(y) : M(x);", False),
    ("return M(N(x));", "return N(M(x));", False),
    ("return E(x);", "return E(x) + 1;", False),
    ("return E(x);", "return E(y);", False),
    ("return floor(x);", "return ceil(x);", False),
    ("return floor(x);", "return trunc(x);", False),
    ("return rint(x);", "return floor(x + 0.5);", False),
    ("return sqrt(x);", "return sqrt(x) * 1.0;", True),
    ("return fabs(x);", "return x < 0 ? -x : x;", False),
    ("return strlen(s) + strlen(s);", "return 2 * strlen(s);", True),
    ("unsigned long a = strlen(s); s[0] = 0; return a + strlen(s);", "s[0] = 0; return strlen(s) + strlen(s);", False),
    ("return strlen(s);", "return strlen(s + 1);", False),
    ("s[0] = n; return strlen(s);", "return strlen(s);", False),
    ("return toupper(n);", "return toupper(n + 1);", False),
    ("int a = isdigit(n); return a + isdigit(n);", "return 2 * isdigit(n);", True),
    ("s[2] = 5; return strlen(s) + M(x);", "double r = M(x); s[2] = 5; return r + strlen(s);", True),
    ("return strcmp(s, s + 2);", "return strcmp(s + 2, s);", False),
)


def library(random: Random) -> Case:
    left, right, same = random.choice(_LIBRARY)
    if random.random() < 0.2:
        right, same = left, True
    first, second = random.sample(_MATH, 2)
    exact = random.choice(_EXACT)
    declared = "".join(f"double {name}(double);\n" for name in (*_MATH, *_EXACT)) + (
        "int abs(int); unsigned long strlen(const char *); int toupper(int); int isdigit(int);\n"
        "int strcmp(const char *, const char *);\n"
    )

    def text(body: str) -> str:
        named = body.replace("M(", f"{first}(").replace("N(", f"{second}(").replace("E(", f"{exact}(")
        return f"{declared}double f(double x, double y, int n, char *s) {{ {named} }}\n"

    inputs = [DOUBLE, DOUBLE, INT]
    driver = calls(
        DOUBLE, inputs, before="((char *)memory)[100] = 0;", shown="record_double(f(a0, a1, a2, (char *)memory));"
    )
    flags = random.choice((("-fno-builtin",), ("-fno-math-errno",), ()))
    harness = whole(inputs, _MATH_TEXT + "double f(double, double, int, char *);\n" + driver)
    change = f"{left} / {right} ({first}, {second}, {exact})"
    return Case("library", text(left), text(right), same, change, harness, flags=flags)


_ALLOCATED = (
    ("int *p = malloc(8); p[0] = x; p[1] = @1@; return p;", "2"),
    ("int *p = malloc(@8@); if (!p) return 0; p[0] = x; p[1] = 3; return p;", "12"),
    ("int *p = calloc(2, 4); p[0] += @x@; return p;", "x + 1"),
    ("int *p = malloc(8), *q = malloc(8); p[0] = 1; q[0] = x; p[1] = q[0]; q[1] = 4; return @p@;", "q"),
    ("int *p = malloc(8); p[0] = x; p[1] = p[0] + @1@; return p;", "2"),
    ("int *p = malloc(4); *p = x; int r = *p; free(p); p = malloc(8); p[0] = r; p[1] = @2@; return p;", "3"),
    ("int *p = malloc(8); memory[0] = x; p[0] = memory[0]; p[1] = @2@; return p;", "3"),
    ("int *p = malloc(8); p[0] = x; p[1] = 2; use(p); p[0] = @1@; return p;", "2"),
)


def allocated(random: Random) -> Case:
    body, other = random.choice(_ALLOCATED)
    differs = random.random() < 0.5
    start, value, end = body.split("@")
    declared = (
        "extern int memory[64]; void *malloc(unsigned long); void *calloc(unsigned long, unsigned long);\n"
        "void free(void *); void use(int *);\n"
    )
    left, right = (f"{declared}int *f(int x) {{ {start}{v}{end} }}\n" for v in (value, other if differs else value))
    text = (
        "static char heap[1 << 20]; static word used;\n"
        "void *malloc(word n) { record(n); used = (used + 15) & -16; char *p = heap + used; used += n;"
        " for (word i = 0; i < n; i++) p[i] = next(); return p; }\n"
        "void *calloc(word a, word b) { char *p = malloc(a * b); memset(p, 0, a * b); return p; }\n"
        "void free(void *p) { record(55); }\nvoid use(int *p) { record(p[0]); record(p[1]); clobber(); }\n"
        "int *f(int);\n"
    )
    driver = calls(INT, [INT], shown="int *p = f(a0); record(p - (int *)heap); record(p[0]); record(p[1]);")
    harness = whole([INT], text + driver)
    change = "planted" if differs else "another level"
    flags = random.choice((("-fno-builtin",), ()))
    return Case("allocated", left, right, not differs, f"{change}: {body}", harness, flags=flags)
