"""`none` is said only if no choice of what is unknown fits: undefined values, outside functions, which NaN it is, and
which of two copies is written back."""

from __future__ import annotations

from pathlib import Path

import pytest

from assembled import ZIG
from isoform import api
from isoform.adapt.adapt import AdaptOptions
from isoform.borders.question import Options
from isoform.model.adaptor import AdaptorFound, Answered, Family, NoAdaptor
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


@pytest.mark.parametrize("family", [Family.RETURN, Family.MEMORY])
def test_results_of_outside_functions_refute_nothing(family: Family, tmp_path: Path) -> None:
    pointer = "int g(struct one *q) { return outside(q->x) * 2; }"
    rewrite = pointer if family is Family.MEMORY else "int g(int x) { return outside(x) * 2; }"
    target = "int outside(int); int f(int x) { return outside(x) * 3; }"
    assert not isinstance(asked(tmp_path, family, target, rewrite, budget=5), AdaptorFound)


def test_which_nan_it_is_refutes_nothing(tmp_path: Path) -> None:
    target = "float f(float u) { return u * 2.0f; }"
    rewrite = "float g(struct f *q) { return 2.0f * q->u; }"
    answer = asked(tmp_path, Family.MEMORY, target, rewrite)
    assert isinstance(answer, AdaptorFound), answer
    broken = "float g(struct f *q) { return 3.0f * q->u; }"
    assert isinstance(asked(tmp_path, Family.MEMORY, target, broken), NoAdaptor)
