"""Verdicts: the four answers, and what each one comes with.

The type decides which of the four it is. A verdict cannot be made without what it must come with: `Equivalent` has a
proof, `Different` a witness that was replayed, `Bounded` its bound and `Unknown` its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any, ClassVar

from isoform.model.cause import RootCause
from isoform.model.contract import Contract
from isoform.model.differences import Difference
from isoform.model.outcome import Inputs, Outcome
from isoform.model.presenting import presenter
from isoform.model.saved import SavedQuestion
from isoform.model.values import dataclass


@dataclass(frozen=True)
class Assumption:
    """Something the verdict rests on that was not proved. `name` is stable; `why` is one sentence."""

    name: str
    why: str


def merged_assumptions(assumptions: Iterable[Assumption]) -> tuple[Assumption, ...]:
    """Each name once, with everything that is said under it."""
    said: dict[str, list[str]] = {}
    for one in assumptions:
        whys = said.setdefault(one.name, [])
        if one.why not in whys:
            whys.append(one.why)
    return tuple(Assumption(name, "; ".join(whys)) for name, whys in said.items())


DEFAULT_ROUNDING_MODE = Assumption(
    "default-rounding-mode",
    "the floating-point control word has its default, after calls too: round to nearest, denormals kept, exceptions"
    " masked",
)
CALLS_AGREE = Assumption(
    "calls-agree",
    "a function that is called and not here returns once, gives the same results for the same arguments and memory, "
    "and takes its arguments where the machine's usual calling convention puts them",
)
IN_BOUNDS = "in-bounds"


def in_bounds(objects: Sequence[str]) -> Assumption:
    shown = ", ".join(objects[:4]) + (", …" if len(objects) > 4 else "")
    why = (
        f"the target reads and writes {shown} only within bounds, and what it counts from an address there is "
        "there (--bounds ignore drops this)"
    )
    return Assumption(IN_BOUNDS, why)


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
    """The results of outside functions in the two runs, one sentence each."""

    def __post_init__(self) -> None:
        _require(bool(self.differences), "a witness shows a difference")
        _require(bool(self.replayed_on), "a witness was replayed")


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

    def __post_init__(self) -> None:
        _require(bool(self.obligations), "a proof has obligations")


@dataclass(frozen=True)
class Tried:
    """What one engine said, in one sentence."""

    engine: str
    said: str
    seconds: float
    examined: str = ""
    """What it found to agree, as a phrase."""


@dataclass(frozen=True)
class Companion:
    """A function whose address the compared functions can reach: whether its two bodies do the same."""

    name: str
    verdict: str
    """The word of a verdict of its own."""
    why: str
    target: str = ""
    rewrite: str = ""
    """If it differs: what each side's body does."""


@dataclass(frozen=True)
class SearchStep:
    """One step of a search that runs both functions on inputs it invents (seed 000, figure 5)."""

    number: int
    driver: str
    """Whose next path the inputs are for: target or rewrite."""
    inputs: tuple[tuple[str, str], ...]
    path: tuple[str, ...]
    """The driver's path conditions."""
    target: str
    rewrite: str
    """The result of each one."""
    remark: str = ""


@dataclass(frozen=True)
class Verdict:
    """The answer to one question: one of the four subclasses."""

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

    def __post_init__(self) -> None:
        _require(bool(self.word), "a verdict is one of four")

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

    proof: Proof = field(kw_only=True)
    word: ClassVar[str] = "equivalent"
    exit_code: ClassVar[int] = 0

    def __post_init__(self) -> None:
        _require(isinstance(self.proof, Proof), "`equivalent` comes with a proof")


@dataclass(frozen=True)
class Different(Verdict):
    """There is an input on which they differ, and it was replayed."""

    witness: Witness = field(kw_only=True)
    root_cause: RootCause | None = field(default=None, kw_only=True)
    """Why they differ; None if the cause was not looked for."""
    asked: SavedQuestion | None = field(default=None, kw_only=True, repr=False, compare=False)
    """For a file: the question, so that the difference can be explained later."""
    hint: str = field(default="", kw_only=True)
    """A possible reason although the sources agree; empty if nothing is known."""
    word: ClassVar[str] = "different"
    exit_code: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _require(isinstance(self.witness, Witness), "`different` comes with a witness")


@dataclass(frozen=True)
class Bounded(Verdict):
    """No difference within a bound; nothing is claimed beyond it."""

    bound: dict[str, Any] = field(kw_only=True)
    why: str = field(kw_only=True)
    helps: str = field(default="", kw_only=True)
    """What would help to prove more; empty if nothing is known."""
    word: ClassVar[str] = "bounded"

    def __post_init__(self) -> None:
        _require(bool(self.bound), "`bounded` comes with its bound")
        _require(bool(self.why), "`bounded` says what bounds it")


@dataclass(frozen=True)
class Unknown(Verdict):
    """Neither was shown. `why` says what stopped it and `helps` what would help."""

    why: str = field(kw_only=True)
    helps: str = field(default="", kw_only=True)
    word: ClassVar[str] = "unknown"

    def __post_init__(self) -> None:
        _require(bool(self.why), "`unknown` comes with a reason")


def _require(holds: bool, rule: str) -> None:
    """A verdict without what it must come with would be a wrong one: this is a bug in isoform."""
    if not holds:
        raise ValueError(rule)
