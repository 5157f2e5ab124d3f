"""Arguments and results of calls, in all mixes of types and counts."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from soundness.borders.case import Case
from soundness.borders.harness import calls, outside, prototype, whole
from soundness.borders.kinds import CHARS, DOUBLE, INT, LONG, Kind, Kinds, definitions, scalar


@dataclass(frozen=True)
class _Call:
    result: Kind | None
    arguments: tuple[Kind, ...]
    order: tuple[int, ...]
    """Which parameter is which argument of the callee."""

    @property
    def passed(self) -> tuple[Kind, ...]:
        return tuple(self.arguments[n] for n in self.order)

    @property
    def kinds(self) -> list[Kind]:
        return [*self.arguments, *([self.result] if self.result else [])]


def call(random: Random) -> Case:
    """f passes its parameters on to g in another order, through copies."""
    kinds = Kinds(random)
    arguments = tuple(kinds.any() for _ in range(random.choice((1, 2, 3, 4, 6, 8, 11))))
    order = tuple(random.sample(range(len(arguments)), len(arguments)))
    result = random.choice((None, kinds.any(), kinds.any()))
    shape = _Call(result, arguments, order)
    differs = random.random() < 0.5
    plan = _Body(shape, random)
    left = plan.text()
    if differs:
        change, right = plan.planted()
    else:
        change, right = "other copies", plan.text() if random.random() < 0.6 else left
    declared = definitions(shape.kinds) + prototype(result, shape.passed, "g")
    harness = whole(
        shape.kinds,
        outside("g", result, shape.passed) + prototype(result, arguments) + calls(result, arguments),
    )
    violated = () if differs else ("callee-arguments",)  # padding, and a bool among other members
    return Case("call", declared + left, declared + right, not differs, change, harness, violates_stripped=violated)


class _Body:
    """Texts of f that do the same, and one that does not."""

    def __init__(self, shape: _Call, random: Random) -> None:
        self._shape = shape
        self._random = random

    def text(self, tweak: str = "", at_result: str = "", twice: bool = False, order: tuple[int, ...] = ()) -> str:
        shape = self._shape
        lines = [line for n, k in enumerate(shape.arguments) for line in self._copy(k, n)]
        parameters = ", ".join(f"{k.name} a{n}" for n, k in enumerate(shape.arguments))
        passed = ", ".join(f"b{n}" for n in order or shape.order)
        kind = shape.result.name if shape.result else "void"
        lines += [tweak] if tweak else []
        if shape.result is None:
            lines += [f"g({passed});"] * (2 if twice else 1)
        else:
            lines += [f"{kind} r = g({passed});"] + ([f"r = g({passed});"] if twice else [])
            lines += [at_result] if at_result else []
            lines += self._back(shape.result)
        body = "\n".join(f"    {line}" for line in lines)
        return f"{kind} f({parameters}) {{\n{body}\n}}\n"

    def _copy(self, kind: Kind, number: int) -> list[str]:
        name, to = f"a{number}", f"b{number}"
        draw = self._random.random()
        if kind.plain:
            if kind.leaves[0].kind == "integer" and draw < 0.3:
                constant = self._random.choice((1, 5, 77, 128))
                return [f"{kind.name} {to} = {name} ^ {constant} ^ {constant};"]
            if draw < 0.45:
                return [f"volatile {kind.name} v{number} = {name};", f"{kind.name} {to} = v{number};"]
            return [f"{kind.name} {to} = {name};"]
        if draw < 0.35:
            return [f"{kind.name} {to} = {name};"]
        fields = [f"{leaf.of(to)} = {leaf.of(name)};" for leaf in kind.leaves]
        if not kind.padded:
            return [f"{kind.name} {to} = {name};", *fields]
        if draw < 0.55:
            return [f"{kind.name} {to};", f"__builtin_memset(&{to}, 0xff, sizeof {to});", *fields]
        if draw < 0.75:
            return [f"{kind.name} {to} = {{0}};", *fields]
        return [f"{kind.name} {to};", *self._random.sample(fields, len(fields))]

    def _back(self, kind: Kind) -> list[str]:
        if kind.padded and self._random.random() < 0.5:
            fields = [f"{leaf.of('s')} = {leaf.of('r')};" for leaf in kind.leaves]
            return [f"{kind.name} s;", "__builtin_memset(&s, 0xaa, sizeof s);", *fields, "return s;"]
        return ["return r;"]

    def planted(self) -> tuple[str, str]:
        shape, random = self._shape, self._random
        draw = random.random()
        if draw < 0.12:
            return "a call more", self.text(twice=True)
        if shape.result is not None and draw < 0.3:
            leaf = random.choice(shape.result.leaves)
            return f"another {leaf.of('result')}", self.text(at_result=self._rare(leaf.changed("r")))
        alike = [
            (i, j)
            for i in range(len(shape.order))
            for j in range(i)
            if shape.passed[i] == shape.passed[j] and shape.order[i] != shape.order[j]
        ]
        if alike and draw < 0.5:
            i, j = random.choice(alike)
            order = list(shape.order)
            order[i], order[j] = order[j], order[i]
            return f"arguments {i} and {j} exchanged", self.text(order=tuple(order))
        position = random.randrange(len(shape.order))
        leaf = random.choice(shape.passed[position].leaves)
        what = f"another {leaf.of(f'argument {position}')} ({shape.passed[position].name})"
        return what, self.text(tweak=self._rare(leaf.changed(f"b{shape.order[position]}")))

    def _rare(self, statement: str) -> str:
        plain = [n for n, k in enumerate(self._shape.arguments) if k.plain and k.leaves[0].kind == "integer"]
        if plain and self._random.random() < 0.5:
            return f"if (a{self._random.choice(plain)} == {self._random.choice((5, 77, 100))}) {statement}"
        return statement


# -- variadic ---------------------------------------------------------------------------------------

_FORMATS = {
    "int": "%d",
    "unsigned": "%u",
    "long": "%ld",
    "unsigned long": "%lx",
    "double": "%g",
    "char *": "%p",
    "long double": "%Lg",
}
PRINTF = r"""
#include <stdarg.h>
static void record_format(const char *p, va_list l) {
    for (; *p; p++) {
        record(*p);
        if (*p != '%') continue;
        int wide = 0;
        for (p++; *p == 'l' || *p == 'L'; p++) wide = *p == 'L' ? 2 : 1;
        record(*p);
        if (*p == '%') continue;
        if (*p == 'g') {
            if (wide == 2) { long double x = va_arg(l, long double); record(*(word *)&x);
                record(((unsigned short *)&x)[4]); }
            else { double x = va_arg(l, double); record(*(word *)&x); }
        } else if (*p == 's') { const char *s = va_arg(l, const char *); while (*s) record(*s++); }
        else if (wide || *p == 'p') record(va_arg(l, word));
        else record(va_arg(l, unsigned));
    }
}
int printf(const char *format, ...) { va_list l; va_start(l, format); record_format(format, l); va_end(l); depend();
    int r = drawn(); clobber(); return r; }
int sprintf(char *to, const char *format, ...) { va_list l; va_start(l, format); record((word)to);
    record_format(format, l); va_end(l); depend(); *to = drawn(); int r = drawn(); clobber(); return r; }
int snprintf(char *to, word n, const char *format, ...) { va_list l; va_start(l, format); record((word)to); record(n);
    record_format(format, l); va_end(l); depend(); *to = drawn(); int r = drawn(); clobber(); return r; }
"""


def formatted(random: Random) -> Case:
    """printf and the like: as many values as the format says, many of them on the stack."""
    count = random.choice((1, 3, 5, 6, 8, 10))
    arguments = [scalar(random.choice(tuple(_FORMATS))) for _ in range(count)]
    text = " ".join(_FORMATS[k.name] for k in arguments)
    head, name, fixed = random.choice(
        (
            ("int printf(const char *, ...);\n", "printf", ""),
            ("int sprintf(char *, const char *, ...);\n", "sprintf", "(char *)memory, "),
            ("int snprintf(char *, unsigned long, const char *, ...);\n", "snprintf", "(char *)memory, 9, "),
        )
    )
    differs = random.random() < 0.5
    parameters = ", ".join(f"{k.name} a{n}" for n, k in enumerate(arguments))
    passed = [f"a{n}" for n in range(count)]
    change = "another level"
    other, format_ = list(passed), text
    if differs:
        at = random.randrange(count)
        draw = random.random()
        if draw < 0.25:
            format_, change = text + "!", "another format"
        elif draw < 0.6:
            other[at], change = f"a{at} + 1", f"another value {at} of {count}"
        else:
            other[at], change = f"(a{at} == 77 ? a{at} + 1 : a{at})", f"another value {at} of {count} for 77"
    declared = f"{head}extern int memory[64];\n"

    def body(shown: str, values: list[str]) -> str:
        return f'{declared}int f({parameters}) {{ return {name}({fixed}"{shown}", {", ".join(values)}); }}\n'

    harness = whole([INT, *arguments], PRINTF + prototype(INT, arguments) + calls(INT, arguments))
    return Case("formatted", body(text, passed), body(format_, other), not differs, change, harness, flags=_PLAIN)


_PLAIN = ("-fno-builtin",)


def variadic(random: Random) -> Case:
    """An outside variadic function, which may take structures and wide numbers too."""
    kinds = Kinds(random)
    choices = (INT, LONG, DOUBLE, CHARS, scalar("long double"), scalar("__int128"), scalar("unsigned"))
    count = random.choice((1, 2, 4, 6, 9, 12))
    arguments = [random.choice(choices) if random.random() < 0.85 else kinds.structure() for _ in range(count)]
    differs = random.random() < 0.55
    passed = [f"a{n}" for n in range(count)]
    parameters = ", ".join(f"{k.name} a{n}" for n, k in enumerate(arguments))
    declared = definitions(arguments) + "int v(int, ...);\n"
    tweak = change = ""
    if differs:
        at = random.randrange(count)
        leaf = random.choice(arguments[at].leaves)
        tweak, change = leaf.changed(f"a{at}"), f"another {leaf.of(f'value {at}')} of {count} ({arguments[at].name})"

    def body(first: str) -> str:
        return f"{declared}int f({parameters}) {{ {first} return v({count}, {', '.join(passed)}); }}\n"

    taken = " ".join(f"record_{k.identifier}(va_arg(l, {k.name}));" for k in arguments)
    callee = (
        f"int v(int n, ...) {{ va_list l; va_start(l, n); record(n); {taken} va_end(l); depend(); return drawn(); }}\n"
    )
    harness = whole(
        [INT, *arguments], "#include <stdarg.h>\n" + callee + prototype(INT, arguments) + calls(INT, arguments)
    )
    return Case("variadic", body(""), body(tweak), not differs, change or "another level", harness)


# -- prototypes -------------------------------------------------------------------------------------


def no_prototype(random: Random) -> Case:
    """`int g();`: what is passed is what the call site shows, after the default promotions."""
    choices = (INT, LONG, DOUBLE, CHARS, scalar("unsigned"))
    count = random.choice((0, 1, 2, 3, 5, 7, 9))
    arguments = [random.choice(choices) for _ in range(count)]
    differs = random.random() < 0.5
    parameters = ", ".join(f"{k.name} a{n}" for n, k in enumerate([*arguments, INT, DOUBLE]))
    passed = [f"a{n}" for n in range(count)]
    change, other, extra = "another level", list(passed), ""
    if differs:
        if count and random.random() < 0.7:
            at = random.randrange(count)
            other[at], change = f"a{at} + 1", f"another argument {at} of {count}"
        else:
            extra, change = " + 1", "another result"
    work = random.choice(
        ("", f"a{count} = a{count} * 3u + 1; a{count + 1} = a{count + 1} * 2;", f"memory[1] = a{count}; ")
    )

    def body(values: list[str], end: str) -> str:
        head = "extern int memory[64];\nint g();\n"
        return f"{head}long f({parameters}) {{ {work} return g({', '.join(values)}) + (long)a{count}{end}; }}\n"

    all_kinds = [*arguments, INT, DOUBLE]
    harness = whole(
        [INT, LONG, *all_kinds], outside("g", INT, arguments) + prototype(LONG, all_kinds) + calls(LONG, all_kinds)
    )
    flags = ("-std=gnu11",)
    return Case("no prototype", body(passed, ""), body(other, extra), not differs, change, harness, flags=flags)


def other_prototype(random: Random) -> Case:
    """The two sides declare the callee otherwise; it reads what the wider declaration says."""
    narrow, wide = random.choice(
        (("int", "long"), ("short", "int"), ("unsigned", "unsigned long"), ("signed char", "long"), ("float", "double"))
    )
    shape = random.randrange(5)
    if shape == 0:  # another width of one argument
        left = f"int g({wide}); int f({wide} x, int y) {{ return g(x) + y; }}\n"
        right = f"int g({narrow}); int f({wide} x, int y) {{ return g(x) + y; }}\n"
        arguments, inputs, change = [scalar(wide)], [scalar(wide), INT], f"g({wide}) against g({narrow})"
    elif shape == 1:  # one argument more
        left = "int g(int); int f(int x, int y) { return g(x) + y; }\n"
        right = "int g(int, int); int f(int x, int y) { return g(x, x + y) + y; }\n"
        arguments, inputs, change = [INT, INT], [INT, INT], "g(int) against g(int, int)"
    elif shape == 2:  # another class of register
        left = "int g(long); int f(long x, double y) { return g(x); }\n"
        right = "int g(double); int f(long x, double y) { return g(y); }\n"
        arguments, inputs, change = [LONG, DOUBLE], [LONG, DOUBLE], "g(long) against g(double)"
    elif shape == 3:  # the result's width
        left = "long g(int); long f(int x) { return g(x); }\n"
        right = "int g(int); long f(int x) { return g(x); }\n"
        arguments, inputs, change = [INT], [INT], "long g against int g"
    else:  # the seventh argument, on the stack
        seven = ", ".join(["long"] * 6)
        left = f"int g({seven}, int); int f(long x) {{ return g(x, 1, 2, 3, 4, 5, (int)x); }}\n"
        right = f"int g({seven}, long); int f(long x) {{ return g(x, 1, 2, 3, 4, 5, x); }}\n"
        arguments, inputs, change = [LONG] * 7, [LONG], "seventh argument int against long"
    result = LONG if shape == 3 else INT
    if narrow == "float" and shape == 0:
        return other_prototype(random)
    harness = whole(
        [INT, LONG, DOUBLE, *arguments, *inputs],
        outside("g", result, arguments) + prototype(result, inputs) + calls(result, inputs),
    )
    violated = ("callee-declared-once", "callee-declarations-differ")
    made = Case("other prototype", left, right, False, change, harness, violates=violated)
    return made if random.random() < 0.5 else made.swapped()


def through_parameter(random: Random) -> Case:
    """A pointer to a function is a parameter: the type of what it points to is in the debug information."""
    kinds = Kinds(random)
    arguments = tuple(kinds.any() for _ in range(random.choice((1, 2, 3, 5))))
    result = random.choice((INT, LONG, DOUBLE, scalar("_Bool"), scalar("short"), scalar("unsigned char")))
    spare = (INT, LONG, DOUBLE)
    differs = random.random() < 0.5
    types = ", ".join(k.name for k in arguments)
    parameters = ", ".join(f"{k.name} a{n}" for n, k in enumerate((*arguments, *spare)))
    passed = ", ".join(f"a{n}" for n in range(len(arguments)))
    extra = len(arguments)
    work = f"long t = a{extra} * 7L + a{extra + 1}; memory[2] = t + (int)a{extra + 2};"
    at = random.randrange(len(arguments))
    leaf = random.choice(arguments[at].leaves)
    draw = random.random()
    change, before, after = "another level", "", ""
    if differs and draw < 0.5:
        before, change = leaf.changed(f"a{at}"), f"another {leaf.of(f'argument {at}')} ({arguments[at].name})"
    elif differs:
        after, change = " + 1", "another result"
    declared = f"{definitions(list(arguments))}extern int memory[64];\n"

    def body(first: str, end: str) -> str:
        return (
            f"{declared}double f({result.name} (*cb)({types}), {parameters}) {{\n    {work}\n    {first}\n"
            f"    return cb({passed}){end} + t;\n}}\n"
        )

    every = [*arguments, *spare]
    driver = calls(DOUBLE, every, shown="record_double(f(g, " + ", ".join(f"a{n}" for n in range(len(every))) + "));")
    harness = whole(
        [*every, result],
        outside("g", result, arguments)
        + f"double f({result.name} (*)({types}), {', '.join(k.name for k in every)});\n"
        + driver,
    )
    left, right = body("", ""), body(before, after)
    violated = () if differs else ("callee-arguments",)  # padding
    return Case("pointer parameter", left, right, not differs, change, harness, violates_stripped=violated)


def padding_in_memory(random: Random) -> Case:
    """A structure stored to memory: members count, padding does not."""
    kinds = Kinds(random)
    kind = kinds.structure()
    differs = random.random() < 0.4
    leaf = random.choice(kind.leaves)
    copied = " ".join(f"{each.of('s')} = {each.of('a')};" for each in kind.leaves)
    direct = " ".join(f"{each.of('(*p)')} = {each.of('a')};" for each in kind.leaves)
    texts = ["*p = a;", f"{kind.name} s; {copied} *p = s;", direct, f"{kind.name} s = {{0}}; {copied} *p = s;"]
    tweak = leaf.changed("(*p)") if differs else ""
    left, right = random.choice(texts), random.choice(texts)

    def body(text: str, end: str) -> str:
        return f"{kind.definition}void f({kind.name} *p, {kind.name} a) {{ {text} {end} }}\n"

    driver = calls(None, [kind], shown=f"f(&there, a0); record_{kind.identifier}(there);")
    harness = whole(
        [kind],
        f"{kind.name} there;\nvoid f({kind.name} *, {kind.name});\n" + driver,
    )
    change = f"another {leaf.of('*p')}" if differs else "padding"
    return Case("padding", body(left, ""), body(right, tweak), not differs, change, harness, debug=True)


def narrow_result(random: Random) -> Case:
    """An outside function with a narrow result, used as a wider number."""
    kind = scalar(
        random.choice(("_Bool", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned"))
    )
    uses = (
        "return g(x);",
        "return g(x) ? 3 : 4;",
        "int r = g(x); return r + memory[0];",
        "long r = g(x); return r * 2;",
        "memory[3] = g(x); return 0;",
        "if (g(x) == 1) return 5; return g(x + 1);",
    )
    use = random.choice(uses)
    differs = random.random() < 0.4
    other = use.replace("g(x", "1 + g(x", 1) if differs else use
    declared = f"extern int memory[64];\n{kind.name} g(int);\n"
    harness = whole([INT, LONG, kind], outside("g", kind, [INT]) + prototype(LONG, [INT]) + calls(LONG, [INT]))
    change = "another result" if differs else "another level"
    left, right = (f"{declared}long f(int x) {{ {text} }}\n" for text in (use, other))
    return Case("narrow result", left, right, not differs, change, harness)
