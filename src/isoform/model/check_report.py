"""The result of re-checking a certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

LISTING_FORMAT = "isoform-listing"
"""`format` in the index of a certificate that lists code that is the same."""


class CheckResult(Enum):
    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    """Not unsatisfiable, or not an identity."""
    UNDECIDED = "undecided"
    TAMPERED = "tampered"
    """Not the file that was written, or not one that isoform writes."""


@dataclass(frozen=True)
class CheckRow:
    """The result for one obligation."""

    name: str
    shows: str
    result: CheckResult
    solver: str
    seconds: float
    why: str = ""
    is_step: bool = False
    """Shows an equation that others use."""


@dataclass(frozen=True)
class CheckReport:
    ok: bool
    rows: list[CheckRow]
    problems: list[str]
    """Sentences about the certificate as a whole."""
    index: Mapping[str, Any] = field(default_factory=dict)
    code_compared: bool = False
    """Whether it was compared with given code."""
