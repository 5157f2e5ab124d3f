"""What was found out about all pairs of functions of one or two libraries."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from isoform.model.values import dataclass
from isoform.model.verdict import Assumption


class SignatureOrigin(Enum):
    """Where the signature of a function comes from."""

    HEADER = "header"
    DEBUG = "debug information"
    LIVENESS = "guessed from the code"


@dataclass(frozen=True)
class Shape:
    """What the code of a function is like: for how much two implementations differ."""

    instructions: Mapping[str, int]
    """How often each kind occurs: the operation and what its operands are, without registers and numbers."""
    blocks: int
    loops: int
    paths: int
    """Without repetitions of loops; at most `MOST_PATHS`."""
    loads: int
    stores: int
    calls: tuple[str, ...]

    @property
    def count(self) -> int:
        return sum(self.instructions.values())


MOST_PATHS = 1_000_000


@dataclass(frozen=True)
class Diversity:
    """How much the code of two functions differs."""

    shared: float
    """The share of instructions, after normalisation, that the longer one has in common with the other: 0 to 1."""
    shapes: tuple[Shape, Shape]

    @property
    def percent(self) -> int:
        return round(100 * (1 - self.shared))


@dataclass(frozen=True)
class MinedFunction:
    number: int
    library: int
    """0 or 1."""
    name: str
    aliases: tuple[str, ...]
    """Other names of the same address."""
    signature: str
    origin: SignatureOrigin
    parameters: int
    digest: str
    """Of its code, with what it calls: equal digests, equal code."""
    shape: Shape


@dataclass(frozen=True)
class Refused:
    """A function that is not compared, and why."""

    library: int
    name: str
    why: str


class Likelihood(Enum):
    """What the runs say about a pair that they do not refute."""

    FITS = "fits"
    """A candidate fits all runs."""
    OPEN = "open"
    """No candidate that was tried does, but one with another constant may."""


@dataclass(frozen=True)
class MinedPair:
    """A pair that was asked about. Its numbers are those of `MinedFunction`."""

    target: int
    rewrite: int
    likelihood: Likelihood
    verdict: str
    """adaptor, none or unknown; "" if it was not asked before the time was up."""
    adaptor: Mapping[str, Any] | None = None
    text: str = ""
    """The adaptor, as a call of the rewrite."""
    family: str = ""
    why: str = ""
    """Of an unknown."""
    is_unfinished: bool = False
    """Of an unknown: whether the time ran out. Else something stands in the way that more time does not change."""
    anything_fits: bool = False
    """Whether neither function does anything that is compared."""
    seconds: float = 0.0
    assumptions: tuple[Assumption, ...] = ()
    diversity: Diversity | None = None
    is_kept: bool = False
    """Whether the answer is from the store."""


@dataclass(frozen=True)
class Sieved:
    """What the runs refuted."""

    pairs: int
    """Ordered pairs of functions with different code."""
    refuted: int
    seconds: float
    """On the wall clock."""

    @property
    def rate(self) -> float:
        return self.pairs / self.seconds if self.seconds else 0.0


@dataclass(frozen=True)
class Cluster:
    """Functions that adaptors connect, and the pairs that do."""

    functions: tuple[int, ...]
    pairs: tuple[MinedPair, ...]


@dataclass(frozen=True)
class Mining:
    libraries: tuple[str, ...]
    families: tuple[str, ...]
    depth: int
    budget: float
    functions: tuple[MinedFunction, ...]
    """Those that were compared: one of each code."""
    same_code: tuple[tuple[int, tuple[str, ...]], ...]
    """By the number of a function: others with the same code elsewhere."""
    idle: tuple[str, ...]
    """Functions that did the same on all inputs, and changed nothing: anything fits them."""
    refused: tuple[Refused, ...]
    sieved: Sieved
    pairs: tuple[MinedPair, ...]
    clusters: tuple[Cluster, ...]
    seconds: float
    why_ended: str = ""
    """Why not all was asked."""

    def count(self, verdict: str) -> int:
        return sum(pair.verdict == verdict for pair in self.pairs)

    @property
    def unfinished(self) -> int:
        return sum(pair.is_unfinished for pair in self.pairs)

    @property
    def exit_code(self) -> int:
        return 3 if self.count("unknown") or self.count("") else 0
