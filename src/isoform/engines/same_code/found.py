"""What a pair of functions or objects leads to, and what it rests on that the two are the same."""

from __future__ import annotations

from dataclasses import field

from isoform.model.values import dataclass
from isoform.model.verdict import Assumption

Entries = tuple[int, int]
"""The addresses of two functions' code."""
Objects = tuple[int, int, int]
"""The addresses of two objects, and their size."""


@dataclass
class Found:
    functions: set[Entries] = field(default_factory=set)
    called: set[Entries] = field(default_factory=set)
    """Those of the functions that are called, or whose address is taken."""
    objects: set[Objects] = field(default_factory=set)
    assumptions: list[Assumption] = field(default_factory=list)
    is_wide: bool = False
    forms: bool = False
    """Whether it computes with addresses of named data."""
    loads: bool = False
    """Whether it has such addresses from the global offset table."""
    forms_unnamed: bool = False
    """The same for constants without a name."""
    standing: set[Entries] = field(default_factory=set)
    """Starts of constants whose addresses go somewhere: they may be compared, so one must stand for one."""
    jumps_anywhere: bool = False
    leads_to_code: bool = False
    """For data: whether it may hold distances to instructions."""
    why_not: str = ""

    def rests_on(self, *assumptions: Assumption) -> None:
        self.assumptions += [one for one in assumptions if one not in self.assumptions]
