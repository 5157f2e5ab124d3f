"""The seed's heuristics: which candidates each of them looks at."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoform import compare
from isoform.model.cause import CauseFilter
from isoform.model.verdict import Different

SOURCE = """
int first(int); int second(int); int third(int);
int f(int *p, int n) { int x = first(n); x += p[1]; second(x); third(n * 3); return x; }
"""
LOADED = SOURCE.replace("p[1]", "p[2]")
COMPUTED = SOURCE.replace("n * 3", "n * 5")
THROUGH = "int f(int (**to)(int), int n) { int x = to[0](n); return to[%d](x) + 1; }"


def cause(folder: Path, target: str, rewrite: str, cause_filter: str | None) -> str | None:
    """The instruction of the rewrite that is the cause."""
    for name, text in (("a.c", target), ("b.c", rewrite)):
        (folder / name).write_text(text)
    verdict = compare(f"{folder}/a.c:f", f"{folder}/b.c:f", cc="cc", cflags="-O1", budget=20, cause_filter=cause_filter)
    assert isinstance(verdict, Different)
    assert verdict.root_cause is not None
    causes = [c for c in verdict.root_cause.causes if c.rewrite is not None]
    return causes[0].rewrite.text if causes and causes[0].rewrite is not None else None


@pytest.mark.parametrize(
    ("rewrite", "cause_filter", "found"),
    [
        (LOADED, None, True),
        (LOADED, "load", True),
        (LOADED, "callee", False),
        (LOADED, "call-window", True),
        (COMPUTED, "imm", True),
        (COMPUTED, "load", False),
        (COMPUTED, "call-window:1", True),
    ],
)
def test_filters_leave_out_candidates(tmp_path: Path, rewrite: str, cause_filter: str | None, found: bool) -> None:
    text = cause(tmp_path, SOURCE, rewrite, cause_filter)
    assert (text is not None) is found
    assert text is None or ("[" in text if rewrite is LOADED else "lea" in text or "mul" in text)


def test_the_callee_of_an_indirect_call(tmp_path: Path) -> None:
    text = cause(tmp_path, THROUGH % 1, THROUGH % 2, "callee")
    assert text is not None
    assert "0x10" in text


@pytest.mark.parametrize("text", ["", "loads", "load:2", "call-window:0", "call-window:x", "call-window:-1"])
def test_what_is_no_filter_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="call-window"):
        CauseFilter.parsed(text)
