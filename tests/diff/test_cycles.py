"""Functions that call each other: shown together, and only together."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoform.diff.diff import diff
from isoform.diff.options import DiffOptions
from isoform.load.open import LoadOptions
from isoform.model.library_diff import FunctionAnswer, Row

KEEP = "#define KEEP __attribute__((noinline))\n"
HOW = LoadOptions(cflags=("-O1", "-g", "-fno-optimize-sibling-calls")), LoadOptions(cflags=("-O0", "-g"))
"""How the two versions are built: a compiler makes the same code of most rewritings at one level."""


def rows(
    folder: Path, old: str, new: str, how: tuple[LoadOptions, LoadOptions] = HOW, budget: float = 2.0
) -> dict[str, Row]:
    for side, text in (("old", old), ("new", new)):
        (folder / f"{side}.c").write_text(KEEP + text)
    options = DiffOptions(budget=budget, jobs=1, loading=how)
    return {row.name: row for row in diff(f"{folder}/old.c", f"{folder}/new.c", options).rows}


def answers(found: dict[str, Row]) -> dict[str, str]:
    return {name: row.answer.value for name, row in found.items()}


def assumed(row: Row) -> dict[str, str]:
    return {one["name"]: one["why"] for one in (row.verdict or {})["assumptions"]}


PARSER = """
KEEP int sum(const char **p);
KEEP int unit(const char **p) {
  if (**p == '(') { ++*p; int x = sum(p); if (**p == ')') ++*p; return x; }
  int x = 0;
  if (**p >= '0' && **p <= '9') { x = **p - '0'; ++*p; }
  return x;
}
KEEP int product(const char **p) { int x = unit(p); if (**p == '*') { ++*p; return x * product(p); } return x; }
KEEP int sum(const char **p) { int x = product(p); if (**p == '+') { ++*p; return x + sum(p); } return x; }
int parse(const char *p) { return sum(&p); }
"""
REWRITTEN = """
KEEP int sum(const char **p);
KEEP int unit(const char **p) {
  const char c = **p;
  if (c != '(') { if (c < '0' || c > '9') return 0; *p = *p + 1; return c - '0'; }
  *p += 1;
  const int x = sum(p);
  *p += **p == ')';
  return x;
}
KEEP int product(const char **p) { int x = unit(p); if (**p != '*') return x; *p += 1; return product(p) * x; }
KEEP int sum(const char **p) { int x = product(p); if (**p != '+') return x; *p += 1; return sum(p) + x; }
int parse(const char *p) { return sum(&p); }
"""


@pytest.mark.compiler("gcc-12")
def test_a_parser(tmp_path: Path) -> None:
    found = rows(tmp_path, PARSER, REWRITTEN)
    assert {answers(found)[name] for name in ("unit", "product", "sum")} == {"equivalent"}
    said = assumed(found["sum"])
    assert "product, sum, unit" in said["callees-shown"]
    assert "recursion-by-induction" not in said


@pytest.mark.compiler("gcc-12")
def test_a_parser_with_a_mistake(tmp_path: Path) -> None:
    """Each of the other two would do the same if this one did."""
    found = rows(tmp_path, PARSER, REWRITTEN.replace("return product(p) * x", "return product(p) * x + (x == 7)"))
    assert not set(answers(found).values()) & {"equivalent", "identical"}


RARE = "x == 0x2f3d5a71"
"""No test finds this, and no engine within the budget."""
PING = """
KEEP int pong(int x, int n);
KEEP int ping(int x, int n) { return n <= 0 ? x : pong(x + 1, n - 1) * 3; }
KEEP int pong(int x, int n) { return n <= 0 ? x : ping(x * 5, n - 1) + 2; }
"""
PONG = """
KEEP int pong(int x, int n);
KEEP int ping(int x, int n) { if (n > 0) { int r = pong(1 + x, n - 1); return r + r + r; } return x; }
KEEP int pong(int x, int n) { if (n > 0) { int r = ping(x + 4 * x, n - 1); return r + 1 + 1; } return x; }
"""


def test_two_functions(tmp_path: Path) -> None:
    found = rows(tmp_path, PING, PONG)
    assert answers(found) == {"ping": "equivalent", "pong": "equivalent"}


MISTAKES = {
    "a value that no test has": ("return r + 1 + 1;", f"return r + 1 + 1 + ({RARE});"),
    "another call": ("r = ping(x + 4 * x, n - 1)", f"r = ping(x + 4 * x + ({RARE}), n - 1)"),
    "a call that is not made": ("if (n > 0) { int r = ping", f"if (n > 0 && !({RARE})) {{ int r = ping"),
    "a run that does not end": ("ping(x + 4 * x, n - 1)", f"ping(x + 4 * x, n - !({RARE}))"),
    "one more call": ("return r + 1 + 1;", "r ^= ping(x, n - 1); r ^= ping(x, n - 1); return r + 2;"),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_one_of_two_is_not_the_same(tmp_path: Path, mistake: tuple[str, str]) -> None:
    """`ping` is the same if `pong` is, and `pong` is not. (With the rule alone it would be proved at once.)"""
    assert mistake[0] in PONG
    found = rows(tmp_path, PING, PONG.replace(*mistake), budget=0.7)
    assert not set(answers(found).values()) & {"equivalent", "identical"}


def test_the_rule_is_needed_for_their_callers(tmp_path: Path) -> None:
    """A function that is recursive below another one is not inlined."""
    caller = "int run(int x) {{ return ping(x, 40) {0}; }}\n"
    found = rows(tmp_path, PING + caller.format("+ 3"), PONG + caller.format("+ 1 + 2"))
    assert answers(found) == {"ping": "equivalent", "pong": "equivalent", "run": "equivalent"}
    found = rows(tmp_path, PING + caller.format("+ 3"), PONG + caller.format("+ 4"), budget=0.7)
    assert found["run"].answer is not FunctionAnswer.EQUIVALENT


SAME = """
KEEP int pong(int x, int n);
KEEP int ping(int x, int n) { int s = 0; for (int i = 0; i < x; i++) s += pong(i % 7, n - 1) / (i | 1); return s; }
KEEP int pong(int x, int n) { return n <= 0 ? x : ping(x * x, n - 1) ^ ping(x, n - 2); }
"""


def test_the_same_code_by_induction(tmp_path: Path) -> None:
    found = rows(tmp_path, SAME, "int first(int x) { return x * 9; }\n" + SAME, (HOW[0], HOW[0]))
    assert answers(found) == {"ping": "identical", "pong": "identical", "first": "added"}


SHAPES = PING.replace("pong(x + 1, n - 1) * 3", "(n == 1 ? x + 1 : ping((x + 1) * 5, n - 2) + 2) * 3")


def test_cycles_of_different_shapes(tmp_path: Path) -> None:
    """One version calls itself where the other goes through a second function. No rule for the cycle applies; that the
    functions are the same is shown by inlining, where both end."""
    found = rows(tmp_path, PING, SHAPES)
    assert not {"different"} & set(answers(found).values())
    wrong = rows(tmp_path, PING, SHAPES.replace("+ 2) * 3", "+ 1) * 3"))
    assert answers(wrong)["ping"] == "different"


POINTERS = """
int apply(int (*)(int, int), int);
KEEP int pong(int x, int n);
KEEP int ping(int x, int n) { return n <= 0 ? apply(pong, x) : pong(x + 1, n - 1) * 3; }
KEEP int pong(int x, int n) { return n <= 0 ? x : ping(x * 5, n - 1) + 2; }
"""


def test_addresses_of_functions_in_the_cycle(tmp_path: Path) -> None:
    assert answers(rows(tmp_path, POINTERS, POINTERS)) == {"ping": "equivalent", "pong": "equivalent"}
    wrong = POINTERS.replace("ping(x * 5, n - 1) + 2", f"ping(x * 5, n - 1) + 2 + ({RARE})")
    found = rows(tmp_path, POINTERS, wrong, budget=0.7)
    assert not set(answers(found).values()) & {"equivalent", "identical"}
