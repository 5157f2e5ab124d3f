"""A verdict that lacks what it has to come with cannot be made."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from isoform import compare
from isoform.model.verdict import Bounded, Different, Equivalent, Proof, Unknown, Verdict

REQUIRED: dict[type[Verdict], dict[str, str]] = {
    Equivalent: {"proof": "Proof"},
    Different: {"witness": "Witness"},
    Bounded: {"bound": "dict[str, Any]", "why": "str"},
    Unknown: {"why": "str"},
}


@pytest.fixture(scope="module")
def different(tmp_path_factory: pytest.TempPathFactory) -> Different:
    folder: Path = tmp_path_factory.mktemp("verdict")
    for name, number in (("a.toy", 1), ("b.toy", 2)):
        (folder / name).write_text(f"RETC {number}\n")
    verdict = compare(folder / "a.toy", folder / "b.toy")
    assert isinstance(verdict, Different)
    return verdict


def common(verdict: Verdict) -> dict[str, Any]:
    return {name: getattr(verdict, name) for name in ("target", "rewrite", "contract", "engine", "seconds")}


@pytest.mark.parametrize("kind", REQUIRED)
def test_a_type_checker_asks_for_what_a_verdict_comes_with(kind: type[Verdict]) -> None:
    parameters = inspect.signature(kind).parameters
    own = {
        name: parameter.annotation
        for name, parameter in parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty
    }
    assert own == REQUIRED[kind]


@pytest.mark.parametrize("kind", REQUIRED)
def test_what_a_verdict_comes_with_cannot_be_left_out(kind: type[Verdict], different: Different) -> None:
    with pytest.raises(TypeError, match="required keyword-only argument"):
        kind(**common(different))


@pytest.mark.parametrize("kind", REQUIRED)
@pytest.mark.parametrize("nothing", [None, ""])
def test_what_a_verdict_comes_with_cannot_be_nothing(kind: type[Verdict], nothing: Any, different: Different) -> None:
    with pytest.raises(ValueError, match="comes with"):
        kind(**common(different), **dict.fromkeys(REQUIRED[kind], nothing))


def test_a_bound_says_what_it_is(different: Different) -> None:
    assert Bounded(**common(different), bound={"paths": 3}, why="three paths").word == "bounded"
    with pytest.raises(ValueError, match="what bounds it"):
        Bounded(**common(different), bound={"paths": 3}, why="")


def test_a_proof_has_obligations() -> None:
    with pytest.raises(ValueError, match="a proof has obligations"):
        Proof(())


def test_a_witness_was_replayed_and_shows_a_difference(different: Different) -> None:
    with pytest.raises(ValueError, match="was replayed"):
        replace(different.witness, replayed_on=())
    with pytest.raises(ValueError, match="shows a difference"):
        replace(different.witness, differences=())


def test_a_verdict_is_one_of_four(different: Different) -> None:
    with pytest.raises(ValueError, match="one of four"):
        Verdict(**common(different))
