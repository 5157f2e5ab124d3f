"""Batches of C functions."""

from __future__ import annotations

from random import Random

from soundness.batch import Batch, Build, Pair
from soundness.generator import random_function
from soundness.mutations import mutated
from soundness.program import PRELUDE, Function, function_text
from soundness.rewrites import rewritten

_FLAGS = ("-fno-strict-aliasing", "-w")
# Pointers that overlap as their types do not allow are inputs like any other, so that compilers may not use types.
_LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")


def c_batch(number: int, seed: int, size: int, compilers: tuple[str, ...]) -> Batch:
    random = Random(f"{seed} C {number}")
    builds = _build(random, compilers), _build(random, compilers)
    pairs = tuple(_pair(Random(f"{seed} {number} {index}"), f"{number}.{index}", index) for index in range(size))
    return Batch(number, ".c", PRELUDE, builds, pairs)


def _build(random: Random, compilers: tuple[str, ...]) -> Build:
    return Build(random.choice(compilers), (random.choice(_LEVELS), *_FLAGS))


def _pair(random: Random, label: str, index: int) -> Pair:
    draw = random.random()
    function = random_function(random, f"f{index}", doubtful=draw >= 0.65)
    if draw < 0.35:
        return _made("levels", label, function, function, "another compiler or level", True)
    if draw < 0.65:
        return _made("rewrite", label, function, *rewritten(function, random), True)
    changed, change = mutated(function, random)
    return _made("bug", label, function, changed, change, change == "nothing")


def _made(kind: str, label: str, left: Function, right: Function, change: str, equal: bool) -> Pair:
    return Pair(f"c{label}", kind, equal, change, left.name, function_text(left), function_text(right))
