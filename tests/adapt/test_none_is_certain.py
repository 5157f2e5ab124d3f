"""`none` is said only if no choice of what is unknown fits: undefined values, outside functions, which NaN it is, and
which of two copies is written back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assembled import ZIG
from isoform import api
from isoform.adapt.adapt import AdaptOptions
from isoform.borders.question import Options
from isoform.model.adaptor import AdaptorFound, AdaptorUnknown, Answered, Family, NoAdaptor
from isoform.model.expression import Operator

TYPES = "struct one { int x; }; struct two { int now, before; }; struct f { float u; };\n"


def asked(folder: Path, family: Family, target: str, rewrite: str, budget: float = 20) -> Answered:
    path = folder / "both.c"
    path.write_text(f"{TYPES}{target}\n{rewrite}\n")
    how = AdaptOptions(families=(family,), operators=(Operator.ADD, Operator.XOR))
    return api.adapt(f"{path}:f", f"{path}:g", Options(budget=budget), how, ZIG, ZIG)


def test_two_copies_of_one_member(tmp_path: Path) -> None:
    target = "void f(struct one *p) { p->x = p->x * 3 + 1; }"
    rewrite = "void g(struct two *q) { q->now = q->before * 3 + 1; }"
    answer = asked(tmp_path, Family.MEMORY, target, rewrite)
    assert isinstance(answer, AdaptorFound), answer
    assert str(answer.adaptor) == "q = &{now = p->x, before = p->x; p->x = now}"


def test_two_copies_of_one_member_broken(tmp_path: Path) -> None:
    target = "void f(struct one *p) { p->x = p->x * 3 + 1; }"
    rewrite = "void g(struct two *q) { q->now = q->before * 3 + 2; }"
    assert isinstance(asked(tmp_path, Family.MEMORY, target, rewrite), NoAdaptor)


RETURNED = {
    Family.RETURN: "int g(int x) {{ volatile int u; return x + (u & {}); }}",
    Family.FLOAT: "float g(float x) {{ volatile int u; return x + (float)(u & {}); }}",
    Family.MEMORY: "int g(struct one *q) {{ volatile int u; return q->x + (u & {}); }}",
}
"""With a variable that nothing is written to."""
WANTED = {
    Family.RETURN: "int f(int x) { return x * x * x + 7; }",
    Family.FLOAT: "float f(float x) { return x * x; }",
    Family.MEMORY: "int f(int x) { return x * x; }",
}


@pytest.mark.parametrize("family", RETURNED)
def test_undefined_values_refute_nothing(family: Family, tmp_path: Path) -> None:
    """What the rewrite returns is not determined, so runs do not show that nothing fits."""
    answer = asked(tmp_path, family, WANTED[family], RETURNED[family].format(1), budget=5)
    assert not isinstance(answer, NoAdaptor | AdaptorFound)
    assert isinstance(asked(tmp_path, family, WANTED[family], RETURNED[family].format(0)), NoAdaptor)


@pytest.mark.parametrize(("family", "answer"), [(Family.RETURN, AdaptorUnknown), (Family.MEMORY, NoAdaptor)])
def test_results_of_outside_functions_refute_nothing(family: Family, answer: type, tmp_path: Path) -> None:
    """What an outside function returns is made up in runs. Of the structures that may be built there are so few that
    each is compared: that refutes them. With a number that is known in its place runs refute all, and the same factor
    fits."""
    argument, x = ("struct one *q", "q->x") if family is Family.MEMORY else ("int x", "x")
    target = "int outside(int); int f(int x) { return outside(x) * 3; }"
    doubled = f"int g({argument}) {{ return outside({x}) * 2; }}"
    assert isinstance(asked(tmp_path, family, target, doubled, budget=5), answer)
    assert isinstance(asked(tmp_path, family, target, doubled.replace("2", "3"), budget=5), AdaptorFound)
    left, right = (re.sub(r"outside\(([^)]*x)\)", r"(\1 ^ 5)", text) for text in (target, doubled))
    assert isinstance(asked(tmp_path, family, left, right), NoAdaptor)


def test_which_nan_it_is_refutes_nothing(tmp_path: Path) -> None:
    target = "float f(float u) { return u * 2.0f; }"
    rewrite = "float g(struct f *q) { return 2.0f * q->u; }"
    answer = asked(tmp_path, Family.MEMORY, target, rewrite)
    assert isinstance(answer, AdaptorFound), answer
    broken = "float g(struct f *q) { return 3.0f * q->u; }"
    assert isinstance(asked(tmp_path, Family.MEMORY, target, broken), NoAdaptor)


def test_what_the_rewrite_reads_refutes_all_constants(tmp_path: Path) -> None:
    """A case in which the rewrite finds 0 in a table of its own refutes every mask at once."""
    tables = "__thread unsigned short *own; __thread unsigned **theirs; "
    target = f"{tables} int f(int x) {{ return own[x] & 4; }}"
    rewrite = "int g(int x, int mask) { return (int)(*theirs)[x & 15] & mask; }"
    answer = asked(tmp_path, Family.SUBSTITUTION, target, rewrite, budget=10)
    assert isinstance(answer, NoAdaptor), answer
    same = "int g(int x, int mask) { return own[x] & mask; }"
    found = asked(tmp_path, Family.SUBSTITUTION, target, same)
    assert isinstance(found, AdaptorFound), found
    assert str(found.adaptor) == "x = x, mask = 4"


def test_where_an_object_is_refutes_nothing(tmp_path: Path) -> None:
    """Where isoform places it, a bit of its address is 0 or 1."""
    target = "int object; int f(int x) { return x + (int)((long)&object & 16); }"
    answer = asked(tmp_path, Family.SUBSTITUTION, target, "int g(int x) { return x; }", budget=5)
    assert isinstance(answer, AdaptorUnknown), answer
    read = target.replace("((long)&object & 16)", "object")
    assert isinstance(asked(tmp_path, Family.SUBSTITUTION, read, "int g(int x) { return x; }"), NoAdaptor)
