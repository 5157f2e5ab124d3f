"""An object file and where its parts went."""

from __future__ import annotations

from collections.abc import Mapping, Set

from isoform.load.blocks import PlacedData
from isoform.load.parsed import ParsedFile
from isoform.load.shared import Shared
from isoform.model.values import dataclass


@dataclass(frozen=True)
class PlacedFile:
    file: ParsedFile
    side: int
    data: PlacedData
    code: Mapping[int, int]
    """The address of each executable section."""
    shared: Shared
    common: Set[str] = frozenset()
    """Names that the other side has too."""
