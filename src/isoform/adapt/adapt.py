"""The question for an adaptor, from two loaded functions to an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field, replace
from functools import partial
from typing import Protocol

from isoform.adapt.applicable import families_to_search
from isoform.adapt.cases import UNCERTAIN
from isoform.adapt.float_search import FloatSearch
from isoform.adapt.memory_search import MemorySearch
from isoform.adapt.normal import normal
from isoform.adapt.opened import Opened
from isoform.adapt.pair import Pair, plain_result
from isoform.adapt.result import ResultSearch, argument_choices
from isoform.adapt.search import NoneFits, Search, Unfinished
from isoform.adapt.space import ALL_OPERATORS, result_choices, result_space
from isoform.borders.convention import place_signature
from isoform.borders.question import Engine, Options
from isoform.engines.answer import answer, subject
from isoform.lift.discovery import Discovery
from isoform.model.adaptor import (
    Adaptor,
    AdaptorFound,
    AdaptorQuestion,
    AdaptorUnknown,
    Answered,
    Example,
    Family,
    NoAdaptor,
)
from isoform.model.budget import Budget
from isoform.model.contract import ReturnAs
from isoform.model.errors import Unsupported, UserError
from isoform.model.expression import Constant, Expression, Operator
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption, Different, Equivalent, Verdict

DEPTHS = range(1, 5)
UNROLL = 64
"""Iterations that are unrolled, where `--unroll` does not say: loops over the bits of a word are then whole."""
MOST_UNPROVED = 3
"""The search ends after this many candidates that fit all tests and were not proved."""
MOST_SHOWN = 12
"""Counterexamples in an answer."""
OF_ARGUMENTS = (Family.SUBSTITUTION, Family.WIDTH, Family.ARITHMETIC)
"""If no family is named, the answer is `none` once these are excluded, whether or not the others are decided."""
SHARE = 0.5
"""Of the remaining budget, the most for a family that is not the last."""


@dataclass(frozen=True)
class AdaptOptions:
    """The options of `adapt` that `compare` does not have."""

    families: tuple[Family, ...] | None = None
    """None: all that apply to the two functions."""
    depth: int = 2
    operators: tuple[Operator, ...] = ALL_OPERATORS
    count: int = 1
    """How many adaptors that mean different things are looked for (`--all`)."""
    suggest_domain: bool = False

    def __post_init__(self) -> None:
        if self.depth not in DEPTHS:
            raise UserError(f"--depth {self.depth} is out of range: it goes from {DEPTHS[0]} to {DEPTHS[-1]}.")
        if self.count < 1:
            raise UserError(f"--all {self.count} is not a number of adaptors: give 1 or more.")
        if self.families is not None and not self.families:
            raise UserError("--family names no family.")


def find_adaptor(pair: Pair, options: Options, how: AdaptOptions, budget: Budget) -> Answered:
    """The simplest adaptor of the families, that there is none, or how far the search got."""
    if options.unroll == Options().unroll:
        options = replace(options, unroll=UNROLL)
    return _Finding(pair, options, how, budget).answer()


def proved_on(pair: Pair, adaptor: Adaptor, options: Options, budget: Budget) -> Verdict:
    """What `compare` says of the target and the rewrite with an adaptor, on the domain of the options."""
    return Discovery(budget).fixpoint(partial(answer, pair.adapted(adaptor), options, budget))


def unfinished(pair: Pair, options: Options, how: AdaptOptions, budget: Budget, why: str) -> AdaptorUnknown:
    """The answer if the search had to be ended."""
    finding = _Finding(pair, options, how, budget)
    finding.undecided.append((None, why))
    return finding.unknown()


class CandidateSearch(Protocol):
    """The search in a family of finitely many adaptors."""

    left_out: str
    """Why not all were tried; empty if they were."""

    @property
    def examples(self) -> list[Example]: ...

    def proposals(self) -> Iterator[Adaptor]:
        """Those that fit all cases, simplest first."""

    def assumptions(self, adaptor: Adaptor) -> tuple[Assumption, ...]:
        """What an adaptor rests on besides what its comparison lists."""

    def learn(self, verdict: Different) -> None:
        """Take the witness of a difference into account."""


@dataclass
class _Finding:
    pair: Pair
    options: Options
    how: AdaptOptions
    budget: Budget
    found: list[AdaptorFound] = field(default_factory=list)
    unproved: list[Adaptor] = field(default_factory=list)
    undecided: list[tuple[Family | None, str]] = field(default_factory=list)
    """Reasons for which `none` cannot be answered, each with its family."""
    opened: dict[tuple[ReturnAs, Expression | None], Opened | None] = field(default_factory=dict)
    why_closed: dict[tuple[ReturnAs, Expression | None], str] = field(default_factory=dict)
    """Where there is no open question."""
    refuting: list[Example] = field(default_factory=list)
    """Inputs that together refute every adaptor of the family that was searched last, of those that were decided."""
    searched: list[Family] = field(default_factory=list)
    is_unfinished: bool = False
    """Whether more time may decide something that is not decided."""

    def __post_init__(self) -> None:
        self.families = families_to_search(self.pair, self.how.families, self.options.return_as)
        self.part = self.budget

    def answer(self) -> Answered:
        for number, family in enumerate(self.families, 1):
            self.options.progress(f"looking for an adaptor: {family.value}")
            self._search(family, is_last=number == len(self.families))
            if len(self.found) >= self.how.count:
                return self._all_found()
            if self.budget.exhausted:
                break
        if self.found:
            return self._all_found()
        return self._none() if self._is_excluded() else self.unknown()

    def _search(self, family: Family, is_last: bool) -> None:
        self.part = self.budget if is_last else self.budget.part(self.budget.left * SHARE)
        before, unproved = self.refuting, len(self.unproved)
        self.refuting = []
        for search in self._searches(family):
            search()
            if len(self.found) >= self.how.count:
                return
            if self.part.exhausted:
                self._is_open(family, self.part.why_exhausted(), is_for_time=True)
            if self.part.exhausted or len(self.unproved) - unproved >= MOST_UNPROVED:
                break
        self.searched.append(family)
        if family not in self._reasons():
            self.refuting = self.refuting or before
        else:
            self.refuting = before

    def _is_open(self, family: Family, why: str, is_for_time: bool = False) -> None:
        """Nothing shows that the family has no adaptor."""
        self.undecided.append((family, why))
        self.is_unfinished |= is_for_time

    def _reasons(self) -> dict[Family, str]:
        """Of the families that are not decided, the first reason."""
        found: dict[Family, str] = {}
        for family, why in self.undecided:
            if family is not None:
                found.setdefault(family, why)
        if Family.WIDTH in self.searched and Family.WIDTH not in found:
            found.pop(Family.SUBSTITUTION, None)  # every adaptor of it is one of `width`
        return found

    def _excluded(self) -> tuple[Family, ...]:
        """Families of which it was shown that no adaptor fits."""
        open_ = self._reasons()
        return tuple(family for family in self.searched if family not in open_)

    def _is_excluded(self) -> bool:
        needed = OF_ARGUMENTS if self.how.families is None else self.families
        return all(family in self._excluded() for family in needed)

    def _searches(self, family: Family) -> Iterator[Callable[[], None]]:
        if family is Family.RETURN:
            yield self._return_family
            return
        if family is Family.FLOAT:
            yield partial(self._by_candidates, family, FloatSearch)
            return
        if family is Family.MEMORY:
            yield partial(self._by_candidates, family, MemorySearch)
            return
        for result in self._results(family):
            yield partial(self._with_result, family, result)

    def _all_found(self) -> Answered:
        first, *others = self.found
        more = tuple(other.adaptor for other in others if other.adaptor is not None)
        return replace(first, others=more, seconds=self.budget.elapsed)

    def _results(self, family: Family) -> tuple[Expression, ...]:
        choices = result_choices(self.pair.signatures, family)
        if self.options.return_as is ReturnAs.VOID:
            return choices[:1] or (Constant(0, 64),)
        return choices

    def _opened(self, family: Family, return_as: ReturnAs, result: Expression | None = None) -> Opened | None:
        """The open question, which several families share with its cases. None if it cannot be made."""
        key = return_as, result
        if key not in self.opened:
            options = replace(self.options, return_as=return_as)
            try:
                before = next((one for one in self.opened.values() if one is not None), None)
                self.opened[key] = Opened(self.pair, options, result, self.budget, before)
            except Unsupported as reason:
                self.why_closed[key] = str(reason)
                self.opened[key] = None
        if self.opened[key] is None:
            self._is_open(family, self.why_closed[key])
        return self.opened[key]

    # -- one family, one way to treat the result --------------------------------------------------

    def _with_result(self, family: Family, result: Expression) -> None:
        opened = self._opened(family, self.options.return_as, plain_result(self.pair, result))
        if opened is None:
            return
        spaces = opened.spaces(family, self.how.depth, self.how.operators)
        if opened.fits_always():
            self._found_any(family, opened)
            return
        search = Search(opened.formula, opened.cases, spaces, self.part, constants=opened.constants)
        while len(self.found) < self.how.count:
            step = search.run()
            if isinstance(step, NoneFits):
                self.refuting += [opened.example(case) for case in search.used]
                return
            if isinstance(step, Unfinished):
                self._is_open(family, step.why, step.is_for_time)
                return
            adaptor = opened.adaptor(step.arguments)
            verdict = self._compared(adaptor, step.is_shown or opened.formula.is_whole)
            search.excluded.append(step.arguments)
            if isinstance(verdict, Equivalent):
                self._add(family, adaptor, verdict)
            elif isinstance(verdict, Different):
                opened.learn(verdict, step.arguments)
            elif not self._goes_on_after(family, adaptor, verdict):
                return

    def _goes_on_after(self, family: Family, adaptor: Adaptor, verdict: Verdict) -> bool:
        """Note an adaptor that was neither proved nor refuted."""
        self.unproved.append(adaptor)
        self._is_open(family, _why_not(verdict))
        here = sum(one is family for one, _ in self.undecided)
        return here < MOST_UNPROVED and not self.part.exhausted

    def _return_family(self) -> None:
        """Arguments that are parameters, and an expression for the result (`result.py`)."""
        family = Family.RETURN
        opened = self._opened(family, ReturnAs.VOID)
        if opened is None:
            return
        choices, is_all = argument_choices(opened.spaces(Family.ARITHMETIC, 1, ()))
        readings = tuple(place_signature(self.pair.machine, one).results for one in self.pair.signatures)
        space = result_space(self.pair.typed_parameters, self.pair.signatures, self.how.depth, self.how.operators)
        if not is_all:
            self._is_open(family, "not every choice of arguments was tried")
        for arguments in choices:
            search = ResultSearch(
                opened.cases, (readings[0], readings[1]), arguments, space, self.options.return_as, self.part
            )
            search.constants = opened.constants
            if not self._result_of(opened, search) or len(self.found) >= self.how.count:
                return
        self.refuting += [opened.example(case) for case in opened.cases.found]

    def _result_of(self, opened: Opened, search: ResultSearch) -> bool:
        """Whether the search goes on after one choice of arguments."""
        family = Family.RETURN
        for expression in search.proposals():
            if expression is None:
                why = "the solver found neither an expression nor that there is none in its time"
                self._is_open(family, why, is_for_time=True)
                return not self.part.exhausted
            adaptor = replace(opened.adaptor(search.arguments), result=normal(expression))
            verdict = self._compared(adaptor, opened.formula.is_whole)
            search.excluded.append(expression)
            if isinstance(verdict, Equivalent):
                self._add(family, adaptor, verdict)
                if len(self.found) >= self.how.count:
                    return False
            elif isinstance(verdict, Different):
                opened.learn(verdict)
            elif not self._goes_on_after(family, adaptor, verdict):
                return False
        if search.has_results and family not in self._reasons() and not search.is_certain:
            self._is_open(family, UNCERTAIN)
        return not self.part.exhausted

    def _by_candidates(self, family: Family, make: Callable[[Opened, ReturnAs, Budget], CandidateSearch]) -> None:
        """A family of finitely many adaptors, which are tried on runs."""
        opened = self._opened(family, ReturnAs.VOID)
        if opened is None:
            return
        search = make(opened, self.options.return_as, self.part)
        for adaptor in search.proposals():
            verdict = self._compared(adaptor, is_shown=False)
            if isinstance(verdict, Equivalent):
                self._add(family, adaptor, verdict, more=search.assumptions(adaptor))
                if len(self.found) >= self.how.count:
                    return
            elif isinstance(verdict, Different):
                search.learn(verdict)
            elif not self._goes_on_after(family, adaptor, verdict):
                return
        if search.left_out:
            self._is_open(family, search.left_out)
        self.refuting += search.examples

    def _compared(self, adaptor: Adaptor, is_shown: bool) -> Verdict:
        """What `compare` says of the target and the adapted rewrite. Where the open formula shows that they are the
        same, the loop-free engine, which made it, does so here too."""
        self.options.progress(f"proving that {adaptor} fits")
        if is_shown and self.options.engine is Engine.AUTO:
            quick = replace(self.options, engine=Engine.LOOPFREE)
            verdict = proved_on(self.pair, adaptor, quick, self.budget)
            if isinstance(verdict, Equivalent | Different):
                return verdict
        return proved_on(self.pair, adaptor, self.options, self.budget)

    # -- answers ----------------------------------------------------------------------------------

    def _add(
        self,
        family: Family,
        adaptor: Adaptor,
        proof: Equivalent,
        is_any: bool = False,
        more: tuple[Assumption, ...] = (),
    ) -> None:
        assumptions = (*self.pair.assumptions, *more, *proof.assumptions)
        self.found.append(
            AdaptorFound(
                self._asked(self.families),
                self.budget.elapsed,
                assumptions,
                adaptor=adaptor,
                family=family,
                proof=proof,
                anything_fits=is_any,
            )
        )

    def _found_any(self, family: Family, opened: Opened) -> None:
        """The rewrite does what the target does whatever its arguments are: the adaptor names none."""
        adaptor = Adaptor((), opened.result)
        verdict = self._compared(adaptor, is_shown=True)
        if isinstance(verdict, Equivalent):
            self._add(family, adaptor, verdict, is_any=bool(self.pair.signatures[1].parameters))
            self.how = replace(self.how, count=1)
        else:
            self._goes_on_after(family, adaptor, verdict)

    def _none(self) -> NoAdaptor:
        shown = tuple(self.refuting[:MOST_SHOWN])
        return NoAdaptor(
            self._asked(self._excluded()),
            self.budget.elapsed,
            self.pair.assumptions,
            counterexamples=shown,
            undecided=self._reasons(),
        )

    def unknown(self) -> AdaptorUnknown:
        first = next((f"{family.value}: {why}" if family else why for family, why in self.undecided), "")
        why = first or self.budget.why_exhausted() or "the search did not end"
        return AdaptorUnknown(
            self._asked(self.families),
            self.budget.elapsed,
            self.pair.assumptions,
            why=why,
            candidate=self.unproved[0] if self.unproved else None,
            advice="a larger --budget may help" if self.budget.exhausted and not self.budget.interrupted else "",
            excluded=self._excluded(),
            is_unfinished=self.is_unfinished or self.budget.exhausted,
        )

    def _asked(self, families: tuple[Family, ...]) -> AdaptorQuestion:
        target, rewrite = (subject(side) for side in self.pair.loaded)
        domain = " && ".join(self.options.assume)
        return AdaptorQuestion(target, rewrite, self.pair.signatures, families, self.how.depth, domain)


def _why_not(verdict: Verdict) -> str:
    why = getattr(verdict, "why", "")
    return f"the comparison with the adapted rewrite is {verdict.word}" + (f": {why}" if why else "")
