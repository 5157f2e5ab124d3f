"""Data structures as inputs: pointers found by use, simple shapes first, and how they are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoform.api import compare
from isoform.borders.question import Engine, Options
from isoform.load.open import LoadOptions
from isoform.load.shape import parse_shape
from isoform.model.errors import UserError
from isoform.model.signature import TypeKind
from isoform.model.verdict import Different
from isoform.report.shapes import shapes_of

LIST = "struct node { int v; struct node *next; };\n"
THREE = """
int f(struct node *p) {
    if (!p || p->v != 3 || !p->next || p->next->v != 7 || !p->next->next) return 0;
    return p->next->next->v == 99 && !p->next->next->next ? 1 : 2;
}
"""
CYCLE = "int f(struct node *p) { if (p && p->next && p->next != p) return p->next->next == p ? 1 : 2; return 0; }"
SHAPE = "struct node { int v; struct node *next; } *{}"
UNTYPED = "int f(void *p)"


def answer(folder: Path, text: str, broken: str, **options: object) -> Different:
    sides = []
    for name, code in (("target", text), ("rewrite", broken)):
        path = folder / f"{name}.c"
        path.write_text(LIST + code, encoding="utf-8")
        sides.append(f"{path}:f")
    load = LoadOptions(cflags=("-O1",))
    chosen = Options(engine=Engine.CONCOLIC, **options)  # type: ignore[arg-type]
    verdict = compare(sides[0], sides[1], chosen, load, load)
    assert isinstance(verdict, Different), verdict.tried
    return verdict


def shape(verdict: Different) -> str:
    return " ".join(text for _, text in shapes_of(verdict.witness, verdict.contract))


def test_a_list_of_three_is_built(tmp_path: Path) -> None:
    verdict = answer(tmp_path, THREE, THREE.replace("? 1", "? 5"))
    assert shape(verdict) == "p -> {3, next -> {7, next -> {99, next -> null}}}"
    assert verdict.to_json()["witness"]["shapes"] == {"p": shape(verdict)}
    assert shape(verdict) in str(verdict)


def test_a_cycle_is_built(tmp_path: Path) -> None:
    verdict = answer(tmp_path, CYCLE, CYCLE.replace("? 1", "? 5"))
    assert shape(verdict) == "p -> {next -> {next -> p}}"


def test_without_types_cells_show_offsets(tmp_path: Path) -> None:
    verdict = answer(tmp_path, THREE, THREE.replace("? 1", "? 5"), signature=UNTYPED)
    assert shape(verdict) == "p -> {3, +8 -> {7, +8 -> {99, +8 -> null}}}"


def test_a_shape_gives_names_where_there_are_no_types(tmp_path: Path) -> None:
    broken = THREE.replace("? 1", "? 5")
    verdict = answer(tmp_path, THREE, broken, signature=UNTYPED, shapes=(SHAPE.replace("{}", "p"),))
    assert shape(verdict) == "p -> {3, next -> {7, next -> {99, next -> null}}}"


def test_null_comes_first(tmp_path: Path) -> None:
    text = "int f(struct node *p) { return p ? 1 : 0; }"
    verdict = answer(tmp_path, text, text.replace(": 0", ": 2"))
    assert dict(verdict.witness.arguments) == {"p": 0}


def test_shapes_are_c_declarations() -> None:
    parameter = parse_shape(SHAPE.replace("{}", "p"))
    assert parameter.name == "p"
    assert parameter.type.kind is TypeKind.POINTER
    assert parameter.type.pointee is not None
    assert [name for name, _, _ in parameter.type.pointee.fields] == ["v", "next"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        ("struct node { int v; }", "declares no parameters"),
        ("int x", "as no pointer"),
        ("int *p, *q", "declares 2 parameters"),
        ("struct {{{", "does not parse"),
    ],
)
def test_bad_shapes_are_one_sentence(text: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem) as raised:
        parse_shape(text)
    assert str(raised.value).startswith("--shape ")


def test_a_shape_for_no_parameter(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'q', which is no parameter; the parameters are p"):
        answer(tmp_path, THREE, THREE, shapes=(SHAPE.replace("{}", "q"),))
