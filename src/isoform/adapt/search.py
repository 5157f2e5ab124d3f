"""Counterexample-guided search for the arguments with which the rewrite does what the target does.

Sizes are tried from the smallest on: no operator, one, two. For each size the solver proposes an adaptor that fits all
cases so far, another query looks for an input on which it does not, and that input is the next case. If no adaptor of
any size fits all cases, there is none: the formula for a case admits at least the adaptors that fit it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import partial
from itertools import product

from isoform.adapt.cases import Case, Cases
from isoform.adapt.formula import LONGER_SECONDS, VERIFY_SECONDS, OpenFormula
from isoform.adapt.space import CHEAP, PRODUCTS, QUOTIENTS, SHIFTS, Space
from isoform.adapt.sweep import candidates
from isoform.adapt.symbolic import Tree
from isoform.model.budget import Budget
from isoform.model.expression import Expression, Operator, Variable, parts_of
from isoform.model.values import dataclass
from isoform.smt.incremental import PathSolver
from isoform.smt.solver import Answer
from isoform.smt.terms import Term, Terms

TIERS = (CHEAP, (*CHEAP, *SHIFTS), (*CHEAP, *SHIFTS, *PRODUCTS), (*CHEAP, *SHIFTS, *PRODUCTS, *QUOTIENTS))
"""Operators that are tried together: multiplication and division cost a solver far more than the others."""
SMALL_CONSTANT_BITS = 7
"""Constants of up to so many bits, and a sign, are tried first: they are what a person would write."""
FIRST_WITH_ANY_CONSTANT = 1
"""With so many operators, whether anything fits is asked before whether something with small constants does: mostly
nothing does. Without operators the constants are all there is, and small ones need fewer counterexamples."""
FIRST_KNOWN = 4
"""Cases that refuted proposals before, with which a further attempt begins: each one makes a query larger."""
PROPOSE_SECONDS = 3.0
"""Counted, for one query of the first pass."""

MOST_EXCLUDED = 40
"""Candidates of one size that only runs refute. Each refutation excludes one candidate alone: where the formula leaves
much open (what outside code does with its arguments), the solver always has another constant to propose, so the search
of this size ends after so many."""
SWEEP_SHARE = 0.2
"""Of the budget, for candidates on runs."""
KEPT_CASES = 6
"""Cases on which the addresses that a proposal makes the rewrite access are checked."""
NEARBY_CASES = 3
NEARBY_FILLS = (1, 2, 3, 4)
"""Cases that refuted something, and contents of memory with which they are tried where no query refutes a candidate."""
ENUMERATIONS = 4
"""How often small expressions are enumerated: each time with the counterexamples that the last one led to."""


@dataclass(frozen=True)
class Proposal:
    """Arguments that fit every case so far, and pass the formula's check."""

    arguments: tuple[Expression, ...]
    is_shown: bool = False
    """Whether the formula, which may leave inputs out elsewhere, shows it for all inputs."""


@dataclass(frozen=True)
class NoneFits:
    """No arguments of the spaces fit all cases: shown."""


@dataclass(frozen=True)
class Unfinished:
    why: str
    is_for_time: bool = True
    """Whether more time may decide it."""


@dataclass
class Search:
    formula: OpenFormula
    cases: Cases
    spaces: Sequence[Space]
    budget: Budget
    excluded: list[tuple[Expression, ...]] = field(default_factory=list)
    """Arguments that are not to be proposed again."""
    constants: Sequence[int] = ()
    """Numbers that occur in the code of the two functions."""
    shown: bool = False
    """Whether the formula shows that the arguments that were checked last fit."""
    unrefuted: list[tuple[Expression, ...]] = field(default_factory=list)
    """Arguments that were excluded when no case refuted them."""
    in_bulk: bool = True
    """Whether the formula is one over numbers alone. If there is memory in it, a case may refute a single constant
    only, and it helps to know which parameters must be passed on."""
    used: list[Case] = field(default_factory=list)
    """The cases that the solver knows."""

    def run(self) -> Proposal | NoneFits | Unfinished:
        """The simplest arguments that fit, or that there are none."""
        found = self._enumerated() or self._solved()
        if isinstance(found, NoneFits) and not all(map(self._is_refuted, self.unrefuted)):
            return Unfinished(
                "some arguments make the rewrite use memory that it may not use, and others do not fit",
                is_for_time=False,
            )
        return found

    def _is_refuted(self, arguments: tuple[Expression, ...]) -> bool:
        """Whether what was learned since they were excluded refutes them."""
        for name in self.cases.needed:
            if not any(_is_of(name, argument) for argument in arguments):
                return True
        return self.first_misfit(arguments) is not None or self.misuses_memory(arguments)

    def _enumerated(self) -> Proposal | None:
        """Small expressions with usual constants, on all cases at once."""
        from isoform.adapt.bulk import NotInBulk  # numpy takes a while to import
        from isoform.adapt.enumerate import constants_to_try, enumeration

        for _ in range(ENUMERATIONS):
            known = len(self.cases.found)
            constants = constants_to_try(self.constants, max((space.bits for space in self.spaces), default=64))
            try:
                proposals = enumeration(self.formula, self.spaces, constants, self.cases.found, self.budget).proposals()
            except NotInBulk:
                self.in_bulk = False
                return self._swept(constants)
            for arguments in proposals:
                if arguments in self.excluded or self.first_misfit(arguments) is not None:
                    continue
                if self.counterexample(arguments) is None and self.keeps_to_memory(arguments):
                    return Proposal(arguments, self.shown)
            if len(self.cases.found) == known:
                return None
        return None

    def _swept(self, constants: Sequence[int]) -> Proposal | None:
        """Simple candidates on runs. A case that refutes one likely refutes the next."""
        part = self.budget.part(self.budget.left * SWEEP_SHARE)
        for arguments in candidates(self.spaces, constants):
            if part.exhausted:
                return None
            if arguments in self.excluded:
                continue
            case = next((c for c in self.cases.found if not self.cases.seems_to_fit(c, arguments)), None)
            if case is not None:
                self.cases.found.remove(case)
                self.cases.found.insert(0, case)
            elif self.keeps_to_memory(arguments) and self.counterexample(arguments) is None:
                return Proposal(arguments, self.shown)
        return None

    def _solved(self) -> Proposal | NoneFits | Unfinished:
        open_: list[tuple[int, _Attempt]] = []
        attempts = [*self._attempts()]
        for size in range(attempts[-1].most_operators + 1):
            for attempt in attempts:
                if size > attempt.most_operators or (size == 0 and attempt is not attempts[0]):
                    continue
                found = attempt.of_size(size, PROPOSE_SECONDS)
                if isinstance(found, Proposal):
                    return found
                if isinstance(found, Unfinished):
                    open_.append((size, attempt))
                if self.budget.exhausted:
                    return Unfinished(self.budget.why_exhausted())
        return self._remaining(open_)

    def first_misfit(self, arguments: Sequence[Expression]) -> Case | None:
        """A case in which these arguments do not fit."""
        return next((case for case in self.cases.found if not self.cases.fits(case, arguments)), None)

    def keeps_to_memory(self, arguments: Sequence[Expression]) -> bool:
        """Whether the rewrite accesses only addresses that a program may use. Other arguments are not useful as an
        adaptor, although the comparison may accept them: it assumes valid accesses, and so ignores these inputs."""
        seen = self.cases.found[:KEPT_CASES]
        return not any(self.cases.misuses_memory(case, arguments) for case in seen) and (
            self.formula.keeps_to_memory(arguments)
        )

    def nearby(self, arguments: Sequence[Expression]) -> Case | None:
        """A case with other contents of memory in which these arguments do not fit. Inputs that the formula gave lead
        to valid memory, and what else is there may be anything."""
        if self.in_bulk:
            return None
        for case, seed in product(self.used[-NEARBY_CASES:], NEARBY_FILLS):
            near = self.cases.with_fill(case, seed)
            if near is None:
                continue
            if not self.cases.fits(near, arguments):
                return near
            self.cases.found.remove(near)
        return None

    def misuses_memory(self, arguments: Sequence[Expression]) -> bool:
        """Whether a run shows that the rewrite accesses addresses that no program may use, where the target does not:
        so called it does not do what the target does."""
        return any(self.cases.misuses_memory(case, arguments) for case in self.cases.found)

    def counterexample(self, arguments: Sequence[Expression], seconds: float = VERIFY_SECONDS) -> Case | None:
        """A new case in which these arguments do not fit, from the formula; None if there is none, or none is found."""
        answer, inputs = self.formula.verify(arguments, seconds)
        self.shown = answer is Answer.UNSAT
        if answer is not Answer.SAT:
            return None
        for pair in inputs:
            if not self.cases.question.admits(pair[0]):
                continue
            case = self.cases.add(pair)
            if case is not None and not self.cases.fits(case, arguments):
                return case
            if case is not None:
                self.cases.found.remove(case)
        return None

    def _attempts(self) -> Iterator[_Attempt]:
        """With few operators first. Each later attempt has more operators and must use one of the new ones: the others
        are left to the attempts before it."""
        before: list[Space] | None = None
        for tier in TIERS:
            spaces = [space.with_operators(tier) for space in self.spaces]
            if spaces != before:
                known = {operator for space in before or () for operator in space.operators}
                new = {operator for space in spaces for operator in space.operators} - known
                yield _Attempt(self, spaces, frozenset(new) if before is not None else None)
            before = spaces

    def _remaining(self, open_: Sequence[tuple[int, _Attempt]]) -> Proposal | NoneFits | Unfinished:
        """Queries that the first pass did not decide are asked again, with the whole budget."""
        for size, attempt in open_:
            found = attempt.of_size(size, None)
            if not isinstance(found, NoneFits):
                return found
        return NoneFits()


class _Attempt:
    """The search in spaces of expressions with one solver, which remembers what it learned."""

    def __init__(self, search: Search, spaces: Sequence[Space], required: frozenset[Operator] | None) -> None:
        """`required`: one of these operators must be used."""
        self._search = search
        self._required = required
        self._terms: Terms = search.formula.terms
        self._trees = [Tree(self._terms, space, f"argument {n} of {id(self)}") for n, space in enumerate(spaces)]
        flags = [flag for tree in self._trees for flag in tree.operators_used()]
        self.most_operators = len(flags)
        self._size = self._sum(flags)
        self._solver: PathSolver | None = None
        self._path: list[Term] = []
        self._known: list[Case] = []
        """The cases in the formula: only those that refuted something."""
        self._excluded = 0
        self._needed = 0
        """How many of the needed parameters the formula knows."""

    def _sum(self, flags: Sequence[Term]) -> Term:
        total = self._terms.bv(0, 8)
        for flag in flags:
            total = self._terms.add(total, self._terms.flag(flag))
        return total

    def of_size(self, size: int, seconds: float | None) -> Proposal | NoneFits | Unfinished:
        """An adaptor with at most so many operators, small constants first."""
        search = self._search
        singly = len(search.excluded)
        while len(search.excluded) - singly <= MOST_EXCLUDED:
            answer = self._propose(size, seconds)
            if answer is Answer.UNSAT:
                return NoneFits()
            if answer is Answer.UNKNOWN:
                return Unfinished("the solver found neither an adaptor nor that there is none in its time")
            assert self._solver is not None
            arguments = tuple(tree.read(self._solver) for tree in self._trees)
            if not self._refuted(arguments):
                return Proposal(arguments, search.shown)
        why = "runs refute what the formula for outside calls and memory leaves open, one by one"
        return Unfinished(why, is_for_time=False)

    def _propose(self, size: int, seconds: float | None) -> Answer:
        self._learn()
        assert self._solver is not None
        terms = self._terms
        small = terms.ule(self._size, terms.bv(size, 8))
        few = [self._is_small(constant) for tree in self._trees for constant in tree.constants()]
        if not few:
            return self._solver.check_after(self._path, [small], seconds)
        # What the last query leaves is what counts. Most small trees fit nothing: then one query is enough.
        if size == FIRST_WITH_ANY_CONSTANT:
            answer = self._solver.check_after(self._path, [small], seconds)
            if answer is not Answer.SAT or self._solver.check_after(self._path, [small, *few], seconds) is Answer.SAT:
                return answer
            return self._solver.check_after(self._path, [small], seconds)
        answer = self._solver.check_after(self._path, [small, *few], seconds)
        return answer if answer is Answer.SAT else self._solver.check_after(self._path, [small], seconds)

    def _is_small(self, constant: Term) -> Term:
        terms, width = self._terms, self._terms.width(constant)
        if width <= SMALL_CONSTANT_BITS + 1:
            return terms.true
        limit = terms.bv(1 << SMALL_CONSTANT_BITS, width)
        return terms.ult(terms.add(constant, limit), terms.bv(2 << SMALL_CONSTANT_BITS, width))

    def _learn(self) -> None:
        """What came since the last query."""
        search, terms = self._search, self._terms
        if self._solver is None:
            rules = [rule for tree in self._trees for rule in tree.rules()]
            if self._required is not None:
                rules.append(terms.any_of([tree.uses_operator(self._required) for tree in self._trees]))
            self._solver = PathSolver(terms, search.budget, rules)
            for case in search.used[:FIRST_KNOWN]:
                self._add(case)
        for arguments in search.excluded[self._excluded :]:
            differs = [tree.differs_from(e) for tree, e in zip(self._trees, arguments, strict=True)]
            self._path.append(terms.any_of(differs))
        self._excluded = len(search.excluded)
        for name in search.cases.needed[self._needed :]:
            self._path.append(terms.any_of([tree.uses(partial(_is_of, name)) for tree in self._trees]))
        self._needed = len(search.cases.needed)

    def _add(self, case: Case) -> None:
        formula, terms = self._search.formula, self._terms
        widths = {name: terms.width(term) for name, term in formula.parameters.items()}
        values = {name: terms.bv(value, widths[name]) for name, value in case.values.items()}
        also_read = self._search.cases.also_read(case)
        self._path.append(formula.fits(case, [tree.value(values) for tree in self._trees], also_read))
        self._known.append(case)
        if not any(case is one for one in self._search.used):
            self._search.used.append(case)
            if not self._search.in_bulk:
                self._search.cases.find_needed(case)

    def _refuted(self, arguments: tuple[Expression, ...]) -> bool:
        """Whether an input shows that these arguments do not fit; it is a case from then on."""
        search = self._search
        case = search.first_misfit(arguments) or search.nearby(arguments) or search.counterexample(arguments)
        if case is None and search.keeps_to_memory(arguments):
            return False
        if case is None and not search.misuses_memory(arguments):
            case = None if search.shown else search.counterexample(arguments, LONGER_SECONDS)
            search.unrefuted += [arguments] if case is None else []
        if case is None:
            search.excluded.append(arguments)
            return True
        has_read = search.cases.note_reads(case, arguments)
        if any(case is one for one in self._known) and not has_read:  # the formula admits more than runs do
            search.excluded.append(arguments)
        else:
            self._add(case)
        return True


def _is_of(name: str, leaf: Expression) -> bool:
    """Whether a leaf is made of this parameter."""
    return any(isinstance(part, Variable) and part.name == name for part in parts_of(leaf))
