"""Damaged prototypes (`--signature`) and preconditions (`--assume`)."""

from __future__ import annotations

from random import Random

from hostile.case import Case, Damaged
from hostile.samples import Samples

PROTOTYPES = (
    "unsigned f(unsigned x, unsigned *p)",
    "struct s { int a; char b[4]; struct { long c; } d; }; long f(struct s v, const struct s *p, int n)",
    "typedef enum { A, B = 5, C = B << 2 } e; e f(e x, size_t n)",
    "union u { double d; int i; }; double f(union u v, float x, ...)",
    "void f(int (*g)(int, char), int a[10][3], unsigned long long x)",
    "typedef int t; typedef t *u; t f(u p, t q)",
    "struct l { struct l *next; int v : 3; unsigned w : 29; }; int f(struct l *head)",
    "_Bool f(_Bool b, __int128 x, long double y)",
)
PRECONDITIONS = (
    "0 <= x && x <= 255 && n > 0",
    "p[0..n] disjoint q[0..n]",
    "p[0..n] disjoint q[0..4] disjoint r[1..3] && n < 1000",
    "*p > 3 || p[1] == q[n & 7]",
    "(x ? n : 3) == (unsigned char)x >> 2",
    "x % 7 == 3 && !(x & (x - 1)) && -x != ~n",
    "'a' <= x && x <= 'z' && sizeof(int) == 4",
)
SOURCE_SIGNATURE = "int f(int x, unsigned n, int *p, unsigned char *q, long *r)"
_WORDS = (
    *("int", "long", "unsigned", "char", "void", "const", "struct", "union", "enum", "typedef", "float", "double"),
    *("static", "extern", "inline", "register", "_Atomic", "_Complex", "sizeof", "return", "_Static_assert", "goto"),
    *("x", "n", "p", "q", "f", "disjoint", "(", ")", "[", "]", "{", "}", "*", "&", ",", ";", ":", "..", "...", "?"),
    *("+", "-", "/", "%", "<<", ">>", "<", ">", "==", "!=", "&&", "||", "!", "~", "=", "0", "1", "-1", "0x7fffffff"),
    *("18446744073709551615", "18446744073709551616", "1e400", "1.5f", "'a'", "'\\xff'", "''", '"text"', "0b1", "08"),
    *("9" * 4400, "1ull", "0x1p3", "\\", "#", "//", "/*", "@", "$", "`", "é", "\x1b[0m", "\0", "\n", "\u202e"),
)


def prototype_case(random: Random, samples: Samples) -> Case:
    text = random.choice((_prototype_bomb(random),)) if random.random() < 0.15 else _mixed(random, PROTOTYPES)
    return _case(random, samples, "prototype", ("--signature", text))


def precondition_case(random: Random, samples: Samples) -> Case:
    text = _precondition_bomb(random) if random.random() < 0.15 else _mixed(random, PRECONDITIONS)
    return _case(random, samples, "precondition", ("--signature", SOURCE_SIGNATURE, "--assume", text))


def _case(random: Random, samples: Samples, kind: str, options: tuple[str, ...]) -> Case:
    function = random.choice(("arithmetic", "lookup", "store"))
    budget = random.choice(("0.2", "0.2", "0.5", "3"))
    words = ("compare", f"a.o:{function}", f"b.o:{function}", "--budget", budget, *options)
    files = {"a.o": Damaged(samples.files["o2.o"]), "b.o": Damaged(samples.files["pic.o"])}
    return Case(kind, f"{options[-2]} {options[-1][:120]!r}", words, files)


def _mixed(random: Random, texts: tuple[str, ...]) -> str:
    tokens = _tokens(random.choice(texts))
    others = _tokens(random.choice(texts))
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        at = random.randrange(len(tokens) + 1)
        way = random.randrange(6)
        if way == 0 and tokens:
            del tokens[at : at + random.choice((1, 2, 5))]
        elif way == 1:
            tokens.insert(at, random.choice(_WORDS))
        elif way == 2 and at < len(tokens):
            tokens[at] = random.choice(_WORDS)
        elif way == 3:
            start = random.randrange(len(others))
            tokens[at:at] = others[start : start + random.randrange(1, 8)]
        elif way == 4 and tokens:
            tokens[at:at] = tokens[at : at + random.randrange(1, 6)] * random.choice((1, 2, 30))
        else:
            tokens[at:at] = ["("] if random.random() < 0.5 else [")"]
    return " ".join(tokens)


def _tokens(text: str) -> list[str]:
    spaced = "".join(c if c.isalnum() or c in "_." else f" {c} " for c in text)
    return spaced.split()


def _prototype_bomb(random: Random) -> str:
    count = random.choice((20, 100, 1000, 3000))
    doubling = "".join(f"struct s{i} {{ struct s{i - 1} a, b; }};" for i in range(1, count))
    arrays = "".join(f"typedef t{i - 1} t{i}[9];" for i in range(1, min(count, 800)))
    return random.choice(
        (
            f"int f(int {'*' * count}p)",
            f"int f(int {'(' * count}x{')' * count})",
            f"int f(int a{'[2]' * count})",
            f"int f({', '.join(f'int a{i}' for i in range(count))})",
            f"struct s0 {{ int a; }};{doubling} int f(struct s{count - 1} v)",
            f"struct s0 {{ int a; }};{doubling} int f(struct s{count - 1} *v)",
            f"typedef int t0;{arrays} int f(t{min(count, 800) - 1} *v)",
            f"struct s {{ int a[{random.choice((1 << 31, 1 << 40, 1 << 63, -1, 0))}]; }}; int f(struct s v)",
            "struct s { struct s inner; }; int f(struct s v)",
            f"enum e {{ A = 1 << {10 ** random.randrange(1, 12)} }}; int f(enum e x)",
            f"enum e {{ A = 1 {random.choice(('/', '%'))} 0 }}; int f(enum e x)",
            f"enum e {{ A = {'-' * count}1 }}; int f(enum e x)",
            f"enum e {{ A = {'+'.join(['1'] * count)} }}; int f(enum e x)",
            f"enum e {{ A = {'9*' * min(count, 2000)}9 }}; int f(enum e x)",
            "int f(int (*g" + "(int (*h" * min(count, 300) + ")" * min(count, 600) + ")",
            f"struct s {{ int b : {random.choice((0, 33, 1 << 40, -1))}; }}; int f(struct s v)",
            f"struct s {{ {'int a; ' * count} }}; int f(struct s v)",
            f"struct s {{ {' '.join(f'char a{i};' for i in range(min(count, 1000)))} }}; struct s f(struct s v)",
            f"{'typedef int t; ' * count} t f(t x)",
            f"int {'f' * count}(int x)",
            "typedef t u; typedef u t; t f(u x)",
        )
    )


def _precondition_bomb(random: Random) -> str:
    count = random.choice((20, 63, 200, 1000))
    return random.choice(
        (
            "(" * count + "x" + ")" * count + " > 0",
            "!" * count + "x",
            "-" * count + "x > 0",
            "~" * count + "x > 0",
            " && ".join(["x > 0"] * min(count, 300)),
            " || ".join(f"x == {i}" for i in range(min(count, 300))),
            " + ".join(["x"] * count) + " > 0",
            "*" * count + "p > 0",
            "p" + "[n]" * count + " > 0",
            "x " + "? n : x " * count + "> 0",
            "*".join(["x"] * min(count, 60)) + " == 12345",
            "%".join(["x"] * min(count, 40)) + " == 5",
            " && ".join(f"p[{i}..{i + 1}] disjoint q[0..n]" for i in range(min(count, 100))),
            " disjoint ".join(["p[0..n]"] * min(count, 60)),
            f"x << {1 << 40} > 0",
            f"p[{1 << 62}..{1 << 63}] disjoint q[0..1]",
            "p[-1..-5] disjoint q[n..x]",
            f"x == {'9' * min(count * 4, 4000)}",
            "x == 1 / 0",
            "x / 0 == x % 0",
            "*" + "(int *)" * min(count, 60) + "p == 3",
            "sizeof(int[" + "9" * 40 + "]) > x",
            "x > 0 ? p : q",
        )
    )
