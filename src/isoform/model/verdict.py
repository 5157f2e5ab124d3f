"""Verdicts: the four answers, and what each one comes with. Which of the four is decided by type."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from isoform.model.contract import Contract, Difference
from isoform.model.outcome import Inputs, Outcome
from isoform.model.presenting import presenter


@dataclass(frozen=True)
class Assumption:
    """Something the verdict rests on that was not proved. `name` is stable; `why` is one sentence."""

    name: str
    why: str


DEFAULT_ROUNDING_MODE = Assumption(
    "default-rounding-mode",
    "the floating-point control word has its default, after calls too: round to nearest, denormals kept, exceptions"
    " masked",
)


@dataclass(frozen=True)
class Subject:
    """One side of the question, as the user named it."""

    path: str
    function: str
    isa: str


@dataclass(frozen=True)
class Witness:
    """Inputs on which the two differ, confirmed by replay."""

    inputs: Inputs
    arguments: tuple[tuple[str, int], ...]
    """Parameter name and value, in order; then registers that matter and are no parameter."""
    shown: tuple[tuple[str, str], ...]
    """The same, as a person writes them."""
    target: Outcome
    rewrite: Outcome
    differences: tuple[Difference, ...]
    replayed_on: tuple[str, ...]
    memory: tuple[tuple[int, bytes], ...] = ()
    """Runs of input memory that the difference depends on."""
    outside: tuple[str, ...] = ()
    """What outside functions gave in the two runs, a sentence each."""


@dataclass(frozen=True)
class Obligation:
    """One formula that must be unsatisfiable, and what its unsatisfiability shows."""

    name: str
    shows: str
    seconds: float = 0.0
    where: str = ""
    """The part of the functions that it is about, if not all of them; `shows` then begins with it and a comma."""


@dataclass(frozen=True)
class Proof:
    obligations: tuple[Obligation, ...]
    cuts: tuple[dict[str, Any], ...] = ()
    invariants: tuple[str, ...] = ()
    certificate: str | None = None
    """Folder that `isoform check` re-checks, if one was written."""


@dataclass(frozen=True)
class Tried:
    """What one engine said, in one sentence."""

    engine: str
    said: str
    seconds: float


@dataclass(frozen=True)
class Companion:
    """A function whose address the compared ones can get at: whether its two bodies do the same."""

    name: str
    verdict: str
    """The word of a verdict of its own."""
    why: str
    target: str = ""
    rewrite: str = ""
    """Of one that differs: what each side's does."""


@dataclass(frozen=True)
class SearchStep:
    """One step of a search that runs both functions on inputs it makes up (seed 000, figure 5)."""

    number: int
    driver: str
    """Whose next path the inputs are for: target or rewrite."""
    inputs: tuple[tuple[str, str], ...]
    path: tuple[str, ...]
    """The driver's path conditions."""
    target: str
    rewrite: str
    """What each one gave."""
    remark: str = ""


@dataclass(frozen=True)
class Verdict:
    """The answer to one question. Never instantiated itself: see the four subclasses."""

    target: Subject
    rewrite: Subject
    contract: Contract
    engine: str
    seconds: float
    assumptions: tuple[Assumption, ...] = ()
    tried: tuple[Tried, ...] = ()
    companions: tuple[Companion, ...] = ()
    views: tuple[Any, ...] = field(default=(), repr=False, compare=False)
    """For the report: the two functions as `View`s (`model/listing.py`)."""

    steps: tuple[SearchStep, ...] = field(default=(), repr=False, compare=False)
    """For the report: how a search by runs went."""

    word: ClassVar[str] = ""
    exit_code: ClassVar[int] = 3

    @property
    def verdict(self) -> str:
        """Which of the four it is, as a word: `equivalent`, `different`, `bounded` or `unknown`."""
        return self.word

    def __bool__(self) -> bool:
        raise TypeError("a verdict is one of four, not true or false: ask for verdict == 'equivalent'")

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return presenter().verdict_as_json(self)

    def __str__(self) -> str:
        return presenter().verdict_as_text(self)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


@dataclass(frozen=True)
class Equivalent(Verdict):
    """For every input the contract allows, both do the same."""

    proof: Proof = field(default_factory=lambda: Proof(()))
    word: ClassVar[str] = "equivalent"
    exit_code: ClassVar[int] = 0


@dataclass(frozen=True)
class Different(Verdict):
    """There is an input on which they differ, and it was replayed."""

    witness: Witness | None = None
    root_cause: dict[str, Any] | None = None
    hint: str = ""
    """What may be behind it although the sources agree; empty where nothing is known."""
    word: ClassVar[str] = "different"
    exit_code: ClassVar[int] = 1


@dataclass(frozen=True)
class Bounded(Verdict):
    """No difference within a bound; nothing is claimed beyond it."""

    bound: dict[str, Any] = field(default_factory=dict)
    why: str = ""
    word: ClassVar[str] = "bounded"


@dataclass(frozen=True)
class Unknown(Verdict):
    """Neither was shown. `why` says what stopped it and `helps` what would help."""

    why: str = ""
    helps: str = ""
    word: ClassVar[str] = "unknown"
