"""A question: target, rewrite and contract, with what the engines need to answer it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import field, replace
from enum import Enum
from functools import cached_property
from os import PathLike, fspath

from isoform.borders.apart import Border, apart_differences
from isoform.borders.padding import without_padding
from isoform.lift.discovery import Discovery, Need, Targets
from isoform.lift.function import Function
from isoform.model.abi import broken_duties, mapped_inputs
from isoform.model.callee import Callees
from isoform.model.cause import CauseFilter, Explain
from isoform.model.contract import (
    AbortRule,
    BoundsRule,
    CallRule,
    Contract,
    DataRule,
    MemoryRule,
    RestrictRule,
    ReturnAs,
    TerminationRule,
    argument_value,
)
from isoform.model.differences import Difference
from isoform.model.errors import Unsupported
from isoform.model.limits import DEFAULT_MEMORY
from isoform.model.outcome import Inputs, Outcome, Pair, until_null_call
from isoform.model.signature import TypeKind
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption, Verdict
from isoform.run.compile import Program, compile_function
from isoform.run.memory import Memory
from isoform.run.runner import RunOptions, run


class Engine(Enum):
    AUTO = "auto"
    TESTING = "testing"
    LOOPFREE = "loopfree"
    CONCOLIC = "concolic"
    LOOPS = "loops"
    RECURSION = "recursion"


@dataclass(frozen=True)
class Options:
    """The options of `compare` that are not about files."""

    signature: str | None = None
    assume: tuple[str, ...] = ()
    return_as: ReturnAs = ReturnAs.VALUE
    memory: MemoryRule = MemoryRule.COMPARE
    aborts: AbortRule = AbortRule.EQUAL
    calls: CallRule = CallRule.AUTO
    data: DataRule = DataRule.INITIAL
    bounds: BoundsRule = BoundsRule.ASSUME
    restrict: RestrictRule = RestrictRule.ASSUME
    termination: TerminationRule = TerminationRule.PROVE
    engine: Engine = Engine.AUTO
    budget: float = 60.0
    fuel: int = 10_000
    depth: int = 50
    unroll: int = 16
    degree: int = 2
    """The degree of the monomials in the equations that a proof about loops may use."""
    pure: tuple[str, ...] = ()
    """Outside functions that only compute, beside those that are known to."""
    idempotent: tuple[str, ...] = ()
    """Outside functions for which a call right after the same call does nothing more."""
    seed: int = 1
    tests: str | None = None
    """A file of the user's own tests."""
    cert: str | None = None
    shapes: tuple[str, ...] = ()
    """What pointer parameters point to, as C declarations: `--shape`."""
    narrate: bool = False
    """Whether engines that search note each step for the report."""
    explain: Explain | None = None
    """Whether the cause of a difference is looked for. None: the first one, unless many rewrites are asked about."""
    explain_budget: float | None = None
    """Seconds for that, after the verdict. None: a third of the budget, and at least 5."""
    cause_filter: CauseFilter | None = None
    """Which candidates for a cause are looked at; None: all."""
    causes: int = 4
    """How many changes may be needed together (`Explain.ALL`)."""
    memory_limit: int = DEFAULT_MEMORY
    """Bytes that the question may take."""
    progress: Callable[[str], None] = field(default=lambda what: None, compare=False)
    """Told what is being done, for a terminal."""
    so_far: Callable[[Verdict], None] = field(default=lambda verdict: None, compare=False)
    """Told, whenever more is known, what the verdict would be if all ended there."""

    def __post_init__(self) -> None:
        """Words become members of their enum and one string a tuple of one, so that an option written as on the
        command line means the same here; whatever else is given raises ValueError or TypeError."""
        for name, kind in _CHOICES.items():
            self._set(name, _chosen(name, kind, getattr(self, name)))
        if self.explain is not None:
            self._set("explain", _chosen("explain", Explain, self.explain))
        if isinstance(self.cause_filter, str):
            self._set("cause_filter", CauseFilter.parsed(self.cause_filter))
        for name in ("assume", "shapes", "pure", "idempotent"):
            self._set(name, _texts(name, getattr(self, name)))
        for name in ("pure", "idempotent"):
            if not all(getattr(self, name)):
                raise ValueError(f"{name} must name functions, not ''")
        for name in ("tests", "cert"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str | PathLike):
                raise TypeError(f"{name} must be a path, not {value!r}")
            self._set(name, None if value is None else fspath(value))
        for name, (least, most) in _RANGES.items():
            if name == "explain_budget" and self.explain_budget is None:
                continue
            _require_number(name, getattr(self, name), least, most)
        if self.signature is not None and not isinstance(self.signature, str):
            raise TypeError(f"signature must be a C prototype as a string, not {self.signature!r}")

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


_CHOICES: dict[str, type[Enum]] = {
    "return_as": ReturnAs,
    "memory": MemoryRule,
    "aborts": AbortRule,
    "calls": CallRule,
    "data": DataRule,
    "bounds": BoundsRule,
    "restrict": RestrictRule,
    "termination": TerminationRule,
    "engine": Engine,
}
_RANGES: dict[str, tuple[float, float]] = {
    "budget": (0, 1e9),
    "explain_budget": (0, 1e9),
    "causes": (1, 16),
    "fuel": (1, math.inf),
    "depth": (1, math.inf),
    "unroll": (0, math.inf),
    "degree": (1, 3),
    "seed": (0, math.inf),
    "memory_limit": (1, math.inf),
}
"""The least and the most that an option may be."""


def _chosen(name: str, kind: type[Enum], value: object) -> Enum:
    if isinstance(value, kind):
        return value
    choices = [member.value for member in kind]
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")
    return kind(value)


def _texts(name: str, value: object) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) else value
    if not isinstance(texts, Iterable):
        raise TypeError(f"{name} must be a string or several, not {value!r}")
    found = tuple(texts)
    if not all(isinstance(text, str) for text in found):
        raise TypeError(f"{name} must be a string or several, not {value!r}")
    return found


def _require_number(name: str, value: object, least: float, most: float) -> None:
    wanted = (int, float) if name.endswith("budget") else int
    if isinstance(value, bool) or not isinstance(value, wanted):
        raise TypeError(f"{name} must be a number, not {value!r}")
    if not least <= value <= most:
        limits = f"from {least:g} to {most:g}" if math.isfinite(most) else f"at least {least:g}"
        raise ValueError(f"{name} must be {limits}, not {value!r}")


_UNFOUND = "nobody was asked to find the code that its jumps lead to"


@dataclass(frozen=True)
class Question:
    target: Function
    rewrite: Function
    contract: Contract
    callees: Callees
    assumptions: tuple[Assumption, ...]
    """What the contract itself assumes; engines add what they rely on."""
    options: Options
    border: Border = field(default_factory=Border)
    """What the two images share by name only."""
    versions: tuple[Question, ...] = ()
    """The same question with library calls as loops of one kind or another, or left as calls, in the order in which
    proofs about loops try them. None: only this one."""
    before_expansion: tuple[tuple[Function, Function], ...] = ()
    """Functions of this question whose library calls were expanded to loops, each with the one that has the calls."""
    changed: frozenset[int] = frozenset()
    """Sides (0 or 1) whose code is not that of a file: proofs about loops may not assume that such a side uses memory
    as programs may, but have to show it."""
    unreplayed: list[str] = field(default_factory=list, compare=False, repr=False)
    """Differences that an engine found and the independent CPU model could not confirm, each as a sentence."""
    discovery: Discovery | None = field(default=None, compare=False, repr=False)
    """Who finds the code that turns out to be needed; None: what is not in the functions is left out."""

    def require_code(self, targets: tuple[Targets, Targets]) -> tuple[str, str]:
        """Ask again if these targets of computed jumps lead to more code. Else returns, for each side, why they do not;
        "" if there are none. A difference that could not be replayed stands in any case."""
        if self.unreplayed:
            return "", ""
        if self.discovery is None:
            return _UNFOUND if targets[0] else "", _UNFOUND if targets[1] else ""
        target, rewrite = Need(0, self.target, targets[0]), Need(1, self.rewrite, targets[1])
        self.discovery.require((target, rewrite))
        return self.discovery.why_without(target), self.discovery.why_without(rewrite)

    def require_met_code(self) -> str:
        """Ask again if runs reached code that the functions do not contain. Else returns why they do not contain it; ""
        if there is none."""
        whys: list[str] = []
        for question in (self, *self.versions):
            if "programs" in vars(question):
                target, rewrite = question.programs
                whys += question.require_code((target.pieces.jumps, rewrite.pieces.jumps))
        return next(filter(None, whys), "")

    @cached_property
    def as_called(self) -> Question | None:
        """The same question with its library calls left as calls; None if none was expanded, or if its functions are no
        longer the ones that the expansion gave."""
        plain = [
            next((one for made, one in self.before_expansion if made is f), f) for f in (self.target, self.rewrite)
        ]
        if all(one is f for one, f in zip(plain, (self.target, self.rewrite), strict=True)):
            return None
        return replace(self, target=plain[0], rewrite=plain[1], versions=(), before_expansion=())

    @cached_property
    def programs(self) -> tuple[Program, Program]:
        return compile_function(self.target), compile_function(self.rewrite)

    def run_both(self, inputs: Pair, trace: bool = False, record: bool = False) -> tuple[Outcome, Outcome]:
        """Both runs. `inputs` are in the places of the target; what differs between the two is each side's own."""
        record = record or bool(self.watched)
        last = self._last_runs.get((trace, record))
        if last is None or last[0] != inputs:
            last = inputs, self._run_both(inputs, trace, record)
            self._last_runs[trace, record] = last
        return last[1]

    @cached_property
    def _last_runs(self) -> dict[tuple[bool, bool], tuple[Pair, tuple[Outcome, Outcome]]]:
        """The last inputs and their outcomes, by what the run recorded. Several rules judge one candidate witness,
        and each of them looks at its runs."""
        return {}

    def _run_both(self, inputs: Pair, trace: bool, record: bool) -> tuple[Outcome, Outcome]:
        found = self.inputs_of_sides(inputs)
        left, right = (
            run(program, side, self.run_options(number, trace, record), self.callees)
            for number, (program, side) in enumerate(zip(self.programs, found, strict=True))
        )
        return self.without_padding(inputs[0], self.judged_alone(found, (left, right)))

    def require_one_machine(self, engine: str) -> None:
        if self.contract.abis is not None:
            raise Unsupported(f"the {engine} engine compares functions for one machine only")

    def run_options(self, side: int, trace: bool = False, record: bool = False) -> RunOptions:
        inline = self.contract.calls is not CallRule.UNINTERPRETED
        passed = self.contract.of(side).stack_argument_bytes
        return RunOptions(self.options.fuel, trace, record, passed, inline, self._is_padded)

    def inputs_of_sides(self, inputs: Pair) -> Pair:
        """The inputs where each side finds them."""
        abis = self.contract.abis
        return inputs if abis is None else (inputs[0], mapped_inputs(inputs[1], *abis))

    def judged_alone(self, inputs: Pair, outcomes: tuple[Outcome, Outcome]) -> tuple[Outcome, Outcome]:
        """The outcomes of two machines, each with what it should have restored and did not."""
        abis = self.contract.abis
        if abis is None:
            return outcomes
        left, right = (
            replace(outcome, broken_duties=tuple(broken_duties(abi, side, outcome)))
            for abi, side, outcome in zip(abis, inputs, outcomes, strict=True)
        )
        return left, right

    @property
    def _is_padded(self) -> bool:
        contract = self.contract
        return bool(contract.padded or contract.padded_behind or contract.padded_variables)

    def without_padding(self, inputs: Inputs, outcomes: tuple[Outcome, Outcome]) -> tuple[Outcome, Outcome]:
        """The outcomes of runs on these inputs without the memory that nothing reads."""
        if not self._is_padded:
            return outcomes
        return without_padding(self.contract, inputs, outcomes, self._entry_memory(inputs))

    def _entry_memory(self, inputs: Inputs) -> Callable[[int], int]:
        memory = Memory(self.contract.machine, self.target.image, inputs, 0, frozenset())
        return lambda address: memory.load(address, 1)

    def differences(self, target: Outcome, rewrite: Outcome) -> list[Difference]:
        """Every observable on which two runs differ; else where they read or pass on what is not the same."""
        target, rewrite = until_null_call(target), until_null_call(rewrite)
        found = self.contract.differences(target, rewrite)
        return found or list(apart_differences(self.border.apart, self.contract, target, rewrite))

    def differ(self, target: Outcome, rewrite: Outcome) -> bool:
        """Whether there is such an observable."""
        target, rewrite = until_null_call(target), until_null_call(rewrite)
        if self.contract.differ(target, rewrite):
            return True
        return next(apart_differences(self.border.apart, self.contract, target, rewrite), None) is not None

    @property
    def watched(self) -> tuple[tuple[int, int], ...]:
        """Data of which it matters that a run reads it."""
        return self.target.image.unlike_at_start

    def admits(self, inputs: Inputs) -> bool:
        """Whether the preconditions hold of these inputs."""
        if not self.contract.preconditions:
            return True
        from isoform.borders.precondition import ConcreteAlgebra, Number  # most questions have none

        values = {
            a.name: Number(argument_value(a, inputs), 8 * sum(p.size for p in a.places))
            for a in self.contract.arguments
            if a.type.kind is not TypeKind.STRUCT
        }

        memory = Memory(self.contract.machine, self.target.image, inputs, 0, frozenset())
        algebra = ConcreteAlgebra(memory.load)
        return all(p.evaluate(algebra, values) for p in self.contract.preconditions)
