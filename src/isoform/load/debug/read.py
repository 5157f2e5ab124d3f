"""The debug information of one placed file, and which of its units are about an address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from isoform.load.debug.entries import Unit, Units
from isoform.load.debug.ranges import may_contain
from isoform.load.debug.sections import DebugSections
from isoform.load.debug.unusable import Unusable
from isoform.load.parsed import ParsedFile
from isoform.model.budget import processor_time
from isoform.model.values import dataclass

ENTRY_LIMIT = 400_000
SECONDS_LIMIT = 5.0


@dataclass
class DebugInfo:
    sections: DebugSections
    bias: int
    """What is added to its addresses."""
    deadline: float
    """In processor time."""
    frame_bases: Mapping[bytes, int]
    """As in `Linkage`."""
    stack_pointer_base: bytes
    entries: int = 0
    _units: Units = field(init=False)
    _may_contain: dict[tuple[int, int], bool] = field(default_factory=dict)
    """By the header of a unit and an address."""

    def __post_init__(self) -> None:
        self._units = Units(self.sections, self.spend)

    def spend(self) -> None:
        self.entries += 1
        if self.entries > ENTRY_LIMIT or (self.entries % 256 == 0 and processor_time() > self.deadline):
            raise Unusable("the debug information is too large")

    def renew(self) -> None:
        """Begin the limits anew."""
        self.entries, self.deadline = 0, processor_time() + SECONDS_LIMIT

    def units(self, address: int | None) -> Iterator[Unit]:
        """The units that may have code at an address, or all."""
        for unit in self._units:
            if address is None:
                yield unit
                continue
            key = unit.header, address
            if key not in self._may_contain:
                self._may_contain[key] = may_contain(unit, address - self.bias)
            if self._may_contain[key]:
                yield unit


def read_debug(file: ParsedFile, code: Mapping[int, int], base: int) -> DebugInfo | None:
    """The debug information of a file: for an object file `code` has the addresses of its executable sections, for a
    linked file `base` is added to its addresses. None if there is none that can be read."""
    if not file.has_debug:
        return None
    debug = DebugInfo(
        DebugSections(file, code),
        base,
        processor_time() + SECONDS_LIMIT,
        file.linkage.frame_bases,
        file.linkage.stack_pointer_base,
    )
    try:
        next(debug.units(None), None)
    except Exception:  # hostile debug information may fail in any way: it then counts as absent
        return None
    return debug
