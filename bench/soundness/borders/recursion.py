"""Recursion with every option of the contract: the deeper call is equal in no more than the contract compares."""

from __future__ import annotations

from random import Random

from soundness.borders.case import Case
from soundness.borders.harness import calls, whole
from soundness.borders.kinds import INT

_HEAD = "int hook(int);\nextern int memory[64];\n"
_HOOK = "int hook(int x) { record(x); depend(); int r = drawn(); clobber(); return r; }\nint f(int, int *);\n"


def _harness(shown: str, keep_memory: bool = True) -> str:
    driver = calls(INT, [INT], shown=shown, rounds=60)
    if not keep_memory:
        driver = driver.replace("record_memory();", "")
    return whole([INT], _HOOK + driver)


def recursion(random: Random) -> Case:
    return random.choice((_as_bool, _as_void, _no_memory, _assumed, _plain, _mutual, _aborting))(random)


def _texts(body: str, one: str, other: str) -> tuple[str, str]:
    left, right = (f"{_HEAD}int f(int n, int *p) {{ {body.replace('@', value)} }}\n" for value in (one, other))
    return left, right


def _as_bool(random: Random) -> Case:
    """Only zero or nonzero is compared, but the deeper call's number is used."""
    base = random.sample((1, 2, 3, 4, 6, 77), 2)
    use = random.choice(
        (
            "f(n - 1, p) == 1",
            "f(n - 1, p) & 2",
            "f(n - 1, p) - 2",
            "f(n - 1, p) > 2",
            "!f(n - 1, p)",
            "f(n - 1, p) != 0",
        )
    )
    left, right = _texts(f"if (n <= 0) return @; return {use};", *map(str, base))
    shown = "{ int n = a0 & 15; int r = f(n, memory); record(r != 0); }"
    change = f"base {base[0]} against {base[1]}, {use}"
    harness = _harness(shown)
    return Case("recursion as bool", left, right, False, change, harness, options=("--return-as", "bool"))


def _as_void(random: Random) -> Case:
    use = random.choice(
        ("*p = f(n - 1, p); return 0;", "int r = f(n - 1, p); *p += r == 1; return 0;", "f(n - 1, p); return 3;")
    )
    base = random.sample((1, 2, 3), 2)
    left, right = _texts(f"if (n <= 0) return @; {use}", *map(str, base))
    harness = _harness("{ f(a0 & 15, memory); }")
    return Case("recursion as void", left, right, False, use, harness, options=("--return-as", "void"))


def _no_memory(random: Random) -> Case:
    use = random.choice(
        (
            "f(n - 1, p); return *p;",
            "int r = f(n - 1, p); return r + p[1];",
            "f(n - 1, p); return 2;",
            "int r = f(n - 1, p); return r ^ p[0];",
        )
    )
    left, right = _texts(f"if (n <= 0) {{ p[0] = @; p[1] = @; return 0; }} {use}", "1", "2")
    harness = _harness("{ memory[0] = memory[1] = 0; record(f(a0 & 15, memory)); }", keep_memory=False)
    return Case("recursion without memory", left, right, False, use, harness, options=("--memory", "ignore"))


def _assumed(random: Random) -> Case:
    """The precondition holds of the first call and not of the deeper one."""
    limit = random.choice((3, 5, 10))
    step = random.choice(("n + 1", "n * 2", "-n", "n - 7"))
    inside = {"n + 1": f"n <= {limit}", "n * 2": f"n <= {limit} && n > 0", "-n": "n >= 1", "n - 7": "n >= 0"}[step]
    outside = {"-n": "n <= 0", "n - 7": "n < 0"}.get(step, f"n > {limit}")
    stop = "" if step != "n * 2" else "if (n <= 0) return 9; "
    left, right = _texts(f"{stop}if ({outside}) return @; return f({step}, p) + 1;", "1", "2")
    shown = f"{{ int n = (int)(drawn() & 15) - 3; if ({inside}) record(f(n, memory)); }}"
    change = f"f({step}) leaves {inside}"
    harness = _harness(shown)
    return Case(
        "recursion and precondition", left, right, False, change, harness, options=("--assume", inside), debug=True
    )


_PLAIN: tuple[tuple[str, str, str], ...] = (
    ("if (n <= 0) return @; return f(n - 1, p) + n;", "0", "1"),
    ("if (n <= 0) return 0; return f(n - 1, p) + @;", "n", "n + 1"),
    ("if (n <= 0) return 0; p[0] += @; return f(n - 1, p);", "n", "n + 1"),
    ("if (n <= 0) return 0; hook(@); return f(n - 1, p);", "n", "n + 1"),
    ("if (n <= 1) return n; return f(n - 1, p) + f(n - @, p);", "2", "3"),
    ("if (n <= 0) return 0; int l = @; int r = f(n - 1, &l); return r + l;", "n", "n + 1"),
    ("if (n <= 0) { *p = @; return 0; } int l = 0; f(n - 1, &l); *p = l + 1; return l;", "5", "6"),
    ("if (n > 9) return 1; if (n < 0) return @; return f(n - 1, p) ^ f(n - 2, p);", "2", "3"),
    ("if (n <= 0) return hook(1); return f(n / 2, p) + @;", "1", "2"),
)


def _plain(random: Random) -> Case:
    body, one, other = random.choice(_PLAIN)
    differs = random.random() < 0.5
    left, right = _texts(body, one, other if differs else one)
    harness = _harness("{ record(f(a0 & 7, memory)); }")
    return Case(
        "recursion", left, right, not differs, f"{one} against {other}" if differs else "another level", harness
    )


def _mutual(random: Random) -> Case:
    linkage = random.choice(("static", "static __attribute__((noinline))", ""))
    differs = random.random() < 0.6
    use = random.choice(("{0} + 1", "{0} == 1", "{0} ^ n"))

    def text(base: str) -> str:
        return (
            f"{_HEAD}int f(int, int *);\n{linkage} int other(int n, int *p) {{ if (n <= 0) return {base}; "
            f"return {use.format('f(n - 1, p)')}; }}\n"
            f"int f(int n, int *p) {{ if (n <= 0) return 1; return {use.format('other(n - 1, p)')}; }}\n"
        )

    right = text("2" if differs else "1")
    change = "another base of the other function" if differs else "another level"
    return Case("recursion", text("1"), right, not differs, change, _harness("{ record(f(a0 & 7, memory)); }"))


def _aborting(random: Random) -> Case:
    """Where the target aborts the rewrite may do anything; where it does not, it may not."""
    left = f"{_HEAD}int f(int n, int *p) {{ if (n <= 0) return 10 / p[0]; return f(n - 1, p) + 1; }}\n"
    right = f"{_HEAD}int f(int n, int *p) {{ if (n <= 0) return p[0] ? 10 / p[0] + @ : 0; return f(n - 1, p) + 1; }}\n"
    differs = random.random() < 0.6
    harness = _harness("{ memory[0] = 1 + (a0 & 3); record(f(a0 & 7, memory)); }")
    other = right.replace("@", "1" if differs else "0")
    change = "another quotient" if differs else "no abort"
    return Case("recursion and aborts", left, other, not differs, change, harness, options=("--aborts", "refine"))
