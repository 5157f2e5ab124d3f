"""The effect of one instruction on a plain interpreter, from a state that need not occur at entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Stepped:
    registers: Mapping[str, int]
    memory: Mapping[int, int]
    """Bytes that were stored, by address."""
    next_address: int | None
    """None if the program ended here."""
    fault: str = ""
    """Empty, or the reason of the abort; the rest then means nothing."""
