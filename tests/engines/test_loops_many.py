"""Differences that show only after very many iterations."""

from __future__ import annotations

from pathlib import Path

from isoform.borders.question import Options
from isoform.borders.settle import settle
from isoform.engines.answer import lifted
from isoform.engines.loops.observe.many import after_many_iterations
from isoform.engines.loops.tuning import LONG_FUEL_STEPS
from isoform.load.open import LoadOptions, open_pair
from isoform.model.budget import Budget

SOURCE = """
unsigned folded(unsigned n) { unsigned c = 1; for (unsigned i = 0; i < n; i++) c = (c ^ i) * 5; return c; }
unsigned narrow(unsigned n) { unsigned c = 1; for (unsigned i = 0; i < n; i++) c = (c ^ (i & 0x7fff)) * 5; return c; }
"""


def differing(folder: Path, left: str, right: str) -> int | None:
    path = folder / "folded.c"
    path.write_text(SOURCE)
    pair = open_pair(f"{path}:{left}", f"{path}:{right}", LoadOptions(cflags=("-O1",)), LoadOptions(cflags=("-O1",)))
    question = settle(lifted(pair[0]), lifted(pair[1]), Options(fuel=LONG_FUEL_STEPS))
    found = after_many_iterations(question, Budget(60)).differing
    return None if found is None else found[0].registers["rdi"] & 0xFFFFFFFF


def test_a_counter_that_wraps_late(tmp_path: Path) -> None:
    found = differing(tmp_path, "folded", "narrow")
    assert found is not None
    assert found > 0x8000


def test_the_same_loop_has_none(tmp_path: Path) -> None:
    assert differing(tmp_path, "folded", "folded") is None
