"""Makes a contradicting pair smaller: lines that both texts share are taken out while the contradiction stays."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from soundness.batch import Pair

Still = Callable[[Pair], bool]


def shrunk(pair: Pair, still: Still, seconds: float) -> Pair:
    """The smallest pair found in time for which `still` holds. Larger pieces go first."""
    until = time.monotonic() + seconds
    size = max(len(pair.target.splitlines()) // 2, 1)
    while size >= 1:
        pair, changed = _without_pieces(pair, still, size, until)
        if time.monotonic() > until:
            return pair
        if not changed:
            size //= 2
    return pair


def _without_pieces(pair: Pair, still: Still, size: int, until: float) -> tuple[Pair, bool]:
    changed = False
    start = 1
    while start + size < len(pair.target.splitlines()) and time.monotonic() < until:
        candidate = _without(pair, start, size)
        if candidate is not None and still(candidate):
            pair, changed = candidate, True
        else:
            start += 1
    return pair, changed


def _without(pair: Pair, start: int, size: int) -> Pair | None:
    """The pair without some lines of the target, and the same lines of the rewrite."""
    target, rewrite = pair.target.splitlines(), pair.rewrite.splitlines()
    removed = target[start : start + size]
    where = _position(rewrite, removed)
    if where is None:
        return None
    del target[start : start + size]
    del rewrite[where : where + size]
    return replace(pair, target="\n".join(target) + "\n", rewrite="\n".join(rewrite) + "\n")


def _position(lines: list[str], part: list[str]) -> int | None:
    return next((i for i in range(len(lines) - len(part) + 1) if lines[i : i + len(part)] == part), None)
