"""The result of an assembler of one of the small machines: one function, named after the file."""

from __future__ import annotations

from collections.abc import Mapping

from isoform.model.values import dataclass


@dataclass(frozen=True)
class Assembled:
    code: bytes
    lines: Mapping[int, int]
    """Line of the text by address."""
    source: tuple[str, ...]
    parameters: tuple[str, ...]
    """All of type int, as is the result."""
    writable: bool
    """Whether the program may overwrite its own code."""
