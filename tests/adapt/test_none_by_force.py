"""`none` and `adaptor` at depth 2 against all expressions of depth 2 over one byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from assembled import ZIG
from isoform import api
from isoform.adapt.adapt import AdaptOptions
from isoform.borders.question import Options
from isoform.model.adaptor import AdaptorFound
from isoform.model.expression import Operator, apply, evaluate

BYTES = range(256)
Function = tuple[str, Callable[[int], int]]
TARGETS: list[Function] = [
    ("x * 37", lambda x: x * 37),
    ("x > 200 ? 0 : x", lambda x: 0 if x > 200 else x),
    ("x & (x - 1)", lambda x: x & (x - 1)),
    ("x / 7", lambda x: x // 7),
    ("200 - x", lambda x: 200 - x),
]
REWRITES: list[Function] = [
    ("x ^ 1", lambda x: x ^ 1),
    ("x & 0x7f", lambda x: x & 0x7F),
    ("x", lambda x: x),
]


@cache
def depth_2() -> frozenset[bytes]:
    """The values of all expressions, for every byte."""
    return frozenset({bytes(BYTES), *(bytes([c] * 256) for c in BYTES), *_of_one_operator()})


def _of_one_operator() -> Iterator[bytes]:
    for operator in Operator:
        yield bytes(apply(operator, 8, x, x) for x in BYTES)
        for c in () if operator.is_unary else BYTES:
            yield bytes(apply(operator, 8, x, c) for x in BYTES)
            yield bytes(apply(operator, 8, c, x) for x in BYTES)


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda function: function[0])
@pytest.mark.parametrize("target", TARGETS, ids=lambda function: function[0])
def test_answers_of_one_byte(tmp_path: Path, target: Function, rewrite: Function) -> None:
    path = tmp_path / "bytes.c"
    named = ("f", target[0]), ("g", rewrite[0])
    path.write_text("\n".join(f"unsigned char {name}(unsigned char x) {{ return {text}; }}" for name, text in named))
    wanted = [target[1](x) % 256 for x in BYTES]
    does = [rewrite[1](x) % 256 for x in BYTES]
    exists = any([does[argument] for argument in values] == wanted for values in depth_2())
    answer = api.adapt(f"{path}:f", f"{path}:g", Options(budget=20), AdaptOptions(depth=2), ZIG, ZIG)
    assert answer.word == ("adaptor" if exists else "none")
    if isinstance(answer, AdaptorFound):
        assert answer.adaptor is not None
        ((_, argument),) = answer.adaptor.arguments
        assert [does[evaluate(argument, {"x": x})] for x in BYTES] == wanted
