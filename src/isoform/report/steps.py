"""The steps of a search as a table (seed 000, figure 5)."""

from __future__ import annotations

from collections.abc import Sequence

from isoform.model.verdict import SearchStep

MOST_STEPS = 200
MOST_CONDITIONS = 8


def step_cells(steps: Sequence[SearchStep]) -> list[tuple[str, ...]]:
    """The heading, then a row for each step."""
    if not steps:
        return []
    names = [name for name, _ in steps[0].inputs]
    remarks = any(step.remark for step in steps)
    head = ("step", "driver", *names, "driver's path", "target", "rewrite", *(["remark"] if remarks else []))
    rows = [
        (
            str(step.number),
            step.driver,
            *(value for _, value in step.inputs),
            _path(step.path),
            step.target,
            step.rewrite,
            *([step.remark] if remarks else []),
        )
        for step in steps[:MOST_STEPS]
    ]
    return [head, *rows]


def _path(conditions: Sequence[str]) -> str:
    shown = " and ".join(conditions[:MOST_CONDITIONS])
    more = len(conditions) - MOST_CONDITIONS
    return f"{shown} and {more} more" if more > 0 else shown or "always"
