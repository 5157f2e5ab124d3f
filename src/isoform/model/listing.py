"""Two functions side by side, with the path that a witness takes through them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from isoform.model.values import dataclass

MOST_LINES = 30
"""Lines of one function in a listing before parts are left out."""


@dataclass(frozen=True)
class ListingRow:
    address: int
    text: str
    source: str | None = None
    """The source line that starts here, if it is known and differs from the row before."""
    note: str = ""


@dataclass(frozen=True)
class View:
    title: str
    rows: tuple[ListingRow, ...]
    entry: int | None = None
    """Address that offsets count from; that of the first row if None."""

    def offset(self, address: int) -> str:
        start = self.entry if self.entry is not None else self.rows[0].address
        return f"{address - start:+#x}"


@dataclass(frozen=True)
class ListingLine:
    """One line of a listing as it is shown: an instruction, a line of source, or a gap."""

    offset: str
    text: str
    note: str = ""
    times: int = 0
    """How often the instruction was executed."""
    address: int | None = None
    is_code: bool = True
    is_cause: bool = False
    """Whether the two functions diverge here."""


def lines_of(
    view: View, trace: Sequence[int] = (), most: int = MOST_LINES, causes: frozenset[int] = frozenset()
) -> list[ListingLine]:
    """The lines to show. A long function first loses its source lines, then what was not executed, then the middle of
    what was; never an instruction where the two functions diverge."""
    return [
        replace(line, is_cause=line.is_code and line.address in causes) for line in _lines_of(view, trace, most, causes)
    ]


def _lines_of(view: View, trace: Sequence[int], most: int, causes: frozenset[int]) -> list[ListingLine]:
    times = Counter(trace)
    if len(view.rows) + sum(row.source is not None for row in view.rows) <= most:
        return [line for row in view.rows for line in _lines_of_row(view, row, times)]
    if len(view.rows) <= most:
        return [_code_line(view, row, times) for row in view.rows]
    executed = [index for index, row in enumerate(view.rows) if times[row.address]]
    marked = [index for index, row in enumerate(view.rows) if row.address in causes]
    kept = frozenset((*_ends(executed or list(range(len(view.rows))), most - 2 * len(marked)), *marked))
    return list(_with_gaps(view, kept, times))


def _ends(indices: list[int], most: int) -> list[int]:
    """The first third and the last two thirds of what fits, including gaps: differences show late."""
    if len(indices) + _gaps(indices) <= most:
        return indices
    count = len(indices)
    while count > 2 and count + _gaps(indices[: count // 3] + indices[-(count - count // 3) :]) > most:
        count -= 1
    return indices[: count // 3] + indices[-(count - count // 3) :]


def _gaps(indices: list[int]) -> int:
    """An upper bound on the gaps around and between the kept rows."""
    return 2 + sum(right != left + 1 for left, right in pairwise(indices))


def _with_gaps(view: View, kept: frozenset[int], times: Counter[int]) -> Iterator[ListingLine]:
    for is_kept, group in groupby(range(len(view.rows)), key=lambda index: index in kept):
        rows = [view.rows[index] for index in group]
        if is_kept:
            yield from (_code_line(view, row, times) for row in rows)
        else:
            some = any(times[row.address] for row in rows)
            yield ListingLine("", f"⋮ {len(rows)} {'more' if some or not times else 'not executed'}", is_code=False)


def _lines_of_row(view: View, row: ListingRow, times: Counter[int]) -> Iterator[ListingLine]:
    if row.source is not None:
        yield ListingLine("", row.source, is_code=False)
    yield _code_line(view, row, times)


def _code_line(view: View, row: ListingRow, times: Counter[int]) -> ListingLine:
    return ListingLine(view.offset(row.address), row.text, row.note, times[row.address], row.address)
