"""The question for an adaptor, from two loaded functions to an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import partial

from isoform.adapt.cases import Case, Cases
from isoform.adapt.formula import OpenFormula
from isoform.adapt.normal import normal
from isoform.adapt.pair import Pair, plain_result, posed
from isoform.adapt.search import NoneFits, Proposal, Search, Unfinished
from isoform.adapt.space import ALL_OPERATORS, Space, argument_space, result_choices
from isoform.borders.question import Engine, Options, Question
from isoform.engines.answer import answer, subject
from isoform.lift.discovery import Discovery
from isoform.model.adaptor import (
    Adaptor,
    AdaptorFound,
    AdaptorUnknown,
    Answered,
    Asked,
    Example,
    Family,
    NoAdaptor,
)
from isoform.model.budget import Budget
from isoform.model.contract import ReturnAs
from isoform.model.differences import how_it_ended
from isoform.model.errors import Unsupported, UserError
from isoform.model.expression import Constant, Expression, Operator
from isoform.model.microop import Space as MicroOpSpace
from isoform.model.outcome import Status
from isoform.model.signature import TypeKind
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption, Different, Equivalent, Verdict
from isoform.smt.solver import Answer

DEPTHS = range(1, 5)
UNROLL = 64
"""Iterations that are unrolled, where `--unroll` does not say: loops over the bits of a word are then whole."""
MOST_UNPROVED = 3
"""Candidates that fit all tests and are not proved before the search ends."""
MOST_SHOWN = 12
"""Counterexamples in an answer."""
_ANY_NUMBERS = (0, 1, 0x5A5A_0137_9C3B_0100)
"""Arguments with which a rewrite is run to see whether they matter at all."""
DEFAULT_FAMILIES = (Family.SUBSTITUTION, Family.WIDTH, Family.ARITHMETIC)


@dataclass(frozen=True)
class AdaptOptions:
    """The options of `adapt` that `compare` does not have."""

    families: tuple[Family, ...] = DEFAULT_FAMILIES
    depth: int = 2
    operators: tuple[Operator, ...] = ALL_OPERATORS
    count: int = 1
    """How many adaptors that mean different things are looked for (`--all`)."""

    def __post_init__(self) -> None:
        if self.depth not in DEPTHS:
            raise UserError(f"--depth {self.depth} is out of range: it goes from {DEPTHS[0]} to {DEPTHS[-1]}.")
        if self.count < 1:
            raise UserError(f"--all {self.count} is not a number of adaptors: give 1 or more.")
        if not self.families:
            raise UserError("--family names no family.")


def find_adaptor(pair: Pair, options: Options, how: AdaptOptions, budget: Budget) -> Answered:
    """The simplest adaptor of the families, that there is none, or how far the search got."""
    if options.unroll == Options().unroll:
        options = replace(options, unroll=UNROLL)
    return _Finding(pair, options, how, budget).answer()


def unfinished(pair: Pair, options: Options, how: AdaptOptions, budget: Budget, why: str) -> AdaptorUnknown:
    """The answer if the search had to be ended."""
    finding = _Finding(pair, options, how, budget)
    finding.open_.append(why)
    return finding.unknown()


@dataclass
class _Finding:
    pair: Pair
    options: Options
    how: AdaptOptions
    budget: Budget
    unproved: list[Adaptor] = field(default_factory=list)
    open_: list[str] = field(default_factory=list)
    """Why some family was not searched to the end."""
    refuting: list[Example] = field(default_factory=list)
    """Inputs that exclude all adaptors, of the family before if there was one."""

    def answer(self) -> Answered:
        for family in self.how.families:
            self.options.progress(f"looking for an adaptor: {family.value}")
            self.refuting = []
            for result in self._results(family):
                found = self._with_result(family, result)
                if found is not None:
                    return found
                if self.budget.exhausted or len(self.unproved) >= MOST_UNPROVED:
                    return self.unknown()
        return self.unknown() if self.open_ or self.unproved else self._none()

    def _results(self, family: Family) -> tuple[Expression, ...]:
        choices = result_choices(self.pair.signatures, family)
        if self.options.return_as is ReturnAs.VOID:
            return choices[:1] or (Constant(0, 64),)
        return choices

    # -- one family, one way to treat the result --------------------------------------------------

    def _with_result(self, family: Family, result: Expression) -> Answered | None:
        try:
            opened = _Opened(self.pair, self.options, plain_result(self.pair, result), self.budget)
        except Unsupported as reason:
            self.open_.append(str(reason))
            return None
        spaces = opened.spaces(family, self.how)
        if opened.fits_always():
            return self._found(
                family, Adaptor((), opened.result), opened, is_any=bool(self.pair.signatures[1].parameters)
            )
        search = Search(opened.formula, opened.cases, spaces, self.budget, constants=opened.constants)
        while True:
            step = search.run()
            if isinstance(step, NoneFits):
                self.refuting += [opened.example(case) for case in search.used]
                return None
            if isinstance(step, Unfinished):
                self.open_.append(f"{family.value}: {step.why}")
                return None
            found = self._proved(family, opened, step)
            if isinstance(found, Answered):
                return found
            if not opened.learn(search, step.arguments, found):
                self.unproved.append(opened.adaptor(step.arguments))
                self.open_.append(_why_not(found))
                if len(self.unproved) >= MOST_UNPROVED or self.budget.exhausted:
                    return None

    def _proved(self, family: Family, opened: _Opened, proposal: Proposal) -> Answered | Verdict:
        """The answer if the ordinary comparison proves the adaptor, else what that said."""
        adaptor = opened.adaptor(proposal.arguments)
        self.options.progress(f"proving that {adaptor} fits")
        verdict = self._compared(adaptor, proposal.is_shown or opened.formula.is_whole)
        if not isinstance(verdict, Equivalent):
            return verdict
        return self._found(family, adaptor, opened, verdict)

    def _compared(self, adaptor: Adaptor, is_shown: bool) -> Verdict:
        """What `compare` says of the target and the adapted rewrite. Where the open formula shows that they are the
        same, the loop-free engine, which made it, does so here too."""
        sides = self.pair.adapted(adaptor)
        if is_shown and self.options.engine is Engine.AUTO:
            quick = replace(self.options, engine=Engine.LOOPFREE)
            verdict = Discovery(self.budget).fixpoint(partial(answer, sides, quick, self.budget))
            if isinstance(verdict, Equivalent | Different):
                return verdict
        return Discovery(self.budget).fixpoint(partial(answer, sides, self.options, self.budget))

    # -- answers ----------------------------------------------------------------------------------

    def _found(
        self, family: Family, adaptor: Adaptor, opened: _Opened, proof: Equivalent | None = None, is_any: bool = False
    ) -> Answered:
        if proof is None:
            verdict = self._compared(adaptor, is_shown=True)
            if not isinstance(verdict, Equivalent):
                self.open_.append(_why_not(verdict))
                return replace(self.unknown(), candidate=adaptor)
            proof = verdict
        assumptions = (*self.pair.assumptions, *proof.assumptions)
        return AdaptorFound(
            self._asked(),
            self.budget.elapsed,
            assumptions,
            adaptor=adaptor,
            family=family,
            proof=proof,
            anything_fits=is_any,
        )

    def _none(self) -> NoAdaptor:
        shown = tuple(self.refuting[:MOST_SHOWN])
        return NoAdaptor(self._asked(), self.budget.elapsed, self._assumed(), counterexamples=shown)

    def unknown(self) -> AdaptorUnknown:
        why = self.open_[0] if self.open_ else self.budget.why_exhausted() or "the search did not end"
        candidate = self.unproved[0] if self.unproved else None
        advice = "a larger --budget may help" if self.budget.exhausted else ""
        return AdaptorUnknown(
            self._asked(), self.budget.elapsed, self._assumed(), why=why, candidate=candidate, advice=advice
        )

    def _assumed(self) -> tuple[Assumption, ...]:
        return self.pair.assumptions

    def _asked(self) -> Asked:
        target, rewrite = (subject(side) for side in self.pair.loaded)
        domain = " && ".join(self.options.assume)
        return Asked(target, rewrite, self.pair.signatures, self.how.families, self.how.depth, domain)


def _why_not(verdict: Verdict) -> str:
    why = getattr(verdict, "why", "")
    return f"the comparison with the adapted rewrite is {verdict.word}" + (f": {why}" if why else "")


class _Opened:
    """The open question, encoded, with its cases."""

    def __init__(self, pair: Pair, options: Options, result: Expression | None, budget: Budget) -> None:
        self._pair = pair
        self.result = result
        self._budget = budget
        question, self.formula = Discovery(budget).fixpoint(partial(self._encoded, options))
        self.formula.refuse_impossible_preconditions()
        self.cases = Cases(question, pair.open_names)
        self.cases.make(options.seed)
        self._parameters = pair.signatures[1].parameters
        self._used = [n for n, _ in enumerate(self._parameters) if self.formula.depends_on(n)]
        self.constants = [*dict.fromkeys(_constants(question))]
        self._question = question

    def _encoded(self, options: Options, discovery: Discovery) -> tuple[Question, OpenFormula]:
        question = posed(self._pair.open(self.result), options, self._budget, discovery)
        return question, OpenFormula(question, self._pair.open_names, self._budget)

    def spaces(self, family: Family, how: AdaptOptions) -> list[Space]:
        """What each argument may be. One that the rewrite ignores is 0."""
        parameters = [*zip(self._pair.parameters, (p.type for p in self._pair.signatures[0].parameters), strict=True)]
        found = []
        for number, parameter in enumerate(self._parameters):
            if number in self._used:
                found.append(argument_space(parameters, parameter.type, family, how.depth, how.operators))
            else:
                bits = parameter.type.bits
                found.append(Space(bits, (Constant(0, bits),), has_constants=False))
        return found

    def fits_always(self) -> bool:
        """Whether the rewrite does what the target does whatever its arguments are."""
        for number in _ANY_NUMBERS:
            arguments = [Constant(number % (1 << p.type.bits), p.type.bits) for p in self._parameters]
            if any(not self.cases.fits(case, arguments) for case in self.cases.found):
                return False
        return self.formula.verify_open() is Answer.UNSAT

    def adaptor(self, arguments: Sequence[Expression]) -> Adaptor:
        given = [(self._parameters[n].name, normal(arguments[n])) for n in self._used]
        return Adaptor(tuple(given), self.result)

    def learn(self, search: Search, arguments: tuple[Expression, ...], verdict: Verdict) -> bool:
        """Take a difference into account; False if the verdict shows none."""
        search.excluded.append(arguments)
        if not isinstance(verdict, Different):
            return False
        inputs = verdict.witness.inputs
        case = self.cases.add((inputs, inputs))
        if case is not None and self.cases.fits(case, arguments):
            self.cases.found.remove(case)
        return True

    def example(self, case: Case) -> Example:
        contract, outcome = self._question.contract, case.outcome
        said = how_it_ended(outcome)
        if outcome.status is Status.DONE and contract.results:
            said = f"returns {contract.show_result(contract.result_value(outcome))}"
        kinds = {p.name: p.type for p in self._pair.signatures[0].parameters}
        values = {
            name: value - (1 << kinds[name].bits)
            if _is_negative(kinds[name].signed, kinds[name].bits, value)
            else value
            for name, value in case.values.items()
            if kinds[name].kind is not TypeKind.VOID
        }
        return Example(values, said)


def _is_negative(is_signed: bool, bits: int, value: int) -> bool:
    return is_signed and bool(value >> (bits - 1) & 1)


def _constants(question: Question) -> Iterator[int]:
    """Numbers in the code of both, those of addresses and flags aside."""
    for function in (question.target, question.rewrite):
        for block in function.blocks.values():
            for op in block.ops:
                yield from (
                    var.offset for var in op.ins if var.space is MicroOpSpace.CONST and 1 < var.offset < 1 << 16
                )
