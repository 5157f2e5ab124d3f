"""The known bugs of `bench/seededbugs`."""

from __future__ import annotations

import pytest

from seededbugs import bugs, changed, changes_of, kinds, source


@pytest.mark.parametrize("kind", kinds())
def test_every_change_is_one_line_of_a_function(kind: str) -> None:
    lines = source(kind)
    for change in changes_of(kind):
        others = changed(change)
        assert len(others) == len(lines)
        assert [n for n, (old, new) in enumerate(zip(lines, others, strict=True), 1) if old != new] == [change.line]
        assert any(f"{change.function}(" in line for line in lines[: change.line])


def test_there_are_enough_of_them_and_the_seed_decides_which() -> None:
    assert sum(1 for kind in kinds() for _ in changes_of(kind)) >= 200
    assert bugs(250, 1) == bugs(250, 1)
    assert bugs(250, 1) != bugs(250, 2)
    assert 0.3 < sum(bug.is_built_alike for bug in bugs(250, 1)) / 250 < 0.7
