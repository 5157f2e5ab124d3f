"""What an engine finds out about a question. The ladder turns it into a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from isoform.engines.grounds import Grounds
from isoform.engines.witness import NotConfirmed
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption, Proof, SearchStep, Witness


@dataclass(frozen=True)
class _Report:
    """What comes with a finding of any kind."""

    said: str = field(default="", kw_only=True)
    """One sentence for the report, if the reason of the finding is not that sentence."""
    assumptions: tuple[Assumption, ...] = field(default=(), kw_only=True)
    """What it rests on besides the assumptions of the question."""
    timings: Mapping[str, float] = field(default_factory=dict, kw_only=True, compare=False)
    """Seconds, by what they were spent on."""
    steps: tuple[SearchStep, ...] = field(default=(), kw_only=True, compare=False)
    """How a search by runs went."""
    examined: str = field(default="", kw_only=True)
    """What was found to agree, as a phrase: "19 tests"."""
    never_ends: bool = field(default=False, kw_only=True)
    """Whether in all tests a loop iterated too often for the step bound."""
    iterations_vary: bool = field(default=False, kw_only=True)
    """Whether runs showed that the number of iterations depends on the input."""


@dataclass(frozen=True)
class Proved(_Report):
    """Every obligation is unsatisfiable, and so is every gap."""

    proof: Proof
    grounds: Grounds = field(compare=False)


@dataclass(frozen=True)
class Found(_Report):
    """A difference, confirmed by replay."""

    witness: Witness


@dataclass(frozen=True)
class WithinBound(_Report):
    """No difference within a bound."""

    bound: dict[str, Any]
    why: str


@dataclass(frozen=True)
class Failed(_Report):
    """Neither a proof nor a difference."""

    why: str
    helps: str = ""
    is_bug: bool = False
    """Whether a bug of isoform stopped it, which is reported before anything else."""
    is_final: bool = False
    """Whether no other engine can say more."""


Finding = Proved | Found | WithinBound | Failed


def sentence(finding: Finding) -> str:
    """What the engine said, for the report."""
    match finding:
        case WithinBound() | Failed():
            return finding.said or finding.why
        case _:
            return finding.said


def not_confirmed(result: NotConfirmed) -> Failed:
    helps = "please report it with both functions" if result.is_bug else ""
    return Failed(result.sentence(), helps, is_bug=result.is_bug)
