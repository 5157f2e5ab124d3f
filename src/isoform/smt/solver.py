"""The solver: bitwuzla under a budget."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from math import inf

import bitwuzla

from isoform.model.budget import SLOWEST, Budget, processor_time
from isoform.model.limits import in_solver
from isoform.smt.terms import Term, Terms

MOST_MEGABYTES = 2048
"""A query that needs more memory than this is abandoned."""
CALLS_PER_SECOND = 10_000
"""Effort is counted by how often a solver asks whether to stop: about every ten conflicts, and at each step of what it
does between searches. A limit of one second is this many calls, so that a query has the same answer on any machine,
busy or idle. Measured on 14 pairs: solvers ask 5,000 to 28,000 times per second of search, and of 913 queries that were
answered within their limits in seconds none needed more than this."""
QUERY_SECONDS = 0.001
"""What a query is charged in addition: for making a solver and simplifying the formula."""
_SELDOM = 8
"""The clock is read once in this many calls."""


_FEW_OBJECTS = 6
"""At most this many objects are said to be disjoint at once: the number of conditions is quadratic."""


class Answer(Enum):
    UNSAT = "unsat"
    SAT = "sat"
    UNKNOWN = "unknown"
    """Out of time, interrupted, or the solver gave up: never to be read as UNSAT."""


class _Clock:
    """Tells the solver when to stop. Apart from `Solver`, so that nothing points back at it."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._calls_left = inf
        self._stop_at = inf
        """In processor time."""
        self._calls = 0
        self.effort = 0.0

    def begin(self, seconds: float | None) -> None:
        """Start a query that may take this long."""
        if self._budget.is_counted:
            left = self._budget.left
            seconds = left if seconds is None else min(seconds, left)
        self._calls_left = inf if seconds is None else seconds * CALLS_PER_SECOND
        self._calls = 0
        self._stop_at = inf if seconds is None else processor_time() + SLOWEST * seconds

    def __call__(self) -> bool:
        self._calls += 1
        return self._calls > self._calls_left or (self._calls % _SELDOM == 0 and self.is_up)

    def end(self) -> None:
        effort = QUERY_SECONDS + self._calls / CALLS_PER_SECOND
        self.effort += effort
        self._budget.charge(effort)

    @property
    def is_up(self) -> bool:
        return self._calls_left <= 0 or self._budget.exhausted or processor_time() >= self._stop_at


class Solver:
    """Each query uses a fresh solver. A solver that remembers earlier queries must treat assertions as assumptions that
    may be retracted, and can then simplify far less: hard queries take it several times as long."""

    def __init__(self, terms: Terms, budget: Budget, anywhere: bool = False) -> None:
        self._terms = terms
        self._anywhere = anywhere
        """Whether models may have objects where a linker could put them, and not only where isoform placed them."""
        self.rests_on: list[str] = []
        """The objects on whose place it depends, if that is why the last answer is UNKNOWN."""
        self._budget = budget
        self._clock = _Clock(budget)
        self._options = bitwuzla.Options()
        self._options.set(bitwuzla.Option.PRODUCE_MODELS, True)
        self._options.set(bitwuzla.Option.MEMORY_LIMIT, MOST_MEGABYTES)
        self._solver = self._new()

    def _new(self) -> bitwuzla.Bitwuzla:
        solver = bitwuzla.Bitwuzla(self._terms.manager, self._options)
        solver.configure_terminator(self._clock)
        return solver

    def _begin(self) -> None:
        """With no assertions except permanent ones."""
        self._solver = self._new()

    @property
    def stopped(self) -> bool:
        """Whether nothing more can be answered: the budget is spent, or the user wants to stop."""
        return self._budget.exhausted

    @property
    def effort(self) -> float:
        """Seconds, counted, that all queries took so far."""
        return self._clock.effort

    def check(self, assertions: Sequence[Term], seconds: float | None = None) -> Answer:
        """Is the conjunction satisfiable? At most `seconds` are spent on it, as `CALLS_PER_SECOND` counts them. After
        SAT, `value` reads the model until the next call. If addresses of objects occur, SAT is with the objects where
        isoform placed them, and UNSAT holds wherever a linker may put them; if the two disagree the answer is UNKNOWN
        (and `rests_on` says so)."""
        self.rests_on = []
        if any(a == self._terms.false for a in assertions):
            return Answer.UNSAT
        starts = self._starts(assertions) if self._terms.layout else []
        if not starts:
            return self._ask([*assertions, *self._terms.layout.pins()], seconds)
        if self._anywhere:
            return self._ask_anywhere(assertions, starts, seconds)
        return self._ask_with_layout(assertions, starts, seconds)

    def _ask_with_layout(self, assertions: Sequence[Term], starts: Sequence[Term], seconds: float | None) -> Answer:
        """Most queries with addresses have no model at all: that is asked first."""
        limit = self._budget.left / 2 if seconds is None else seconds
        anywhere = self._ask_anywhere(assertions, starts, limit)
        if anywhere is Answer.UNSAT:
            return Answer.UNSAT
        answer = self._ask([*assertions, *self._terms.layout.pins()], seconds)
        if answer is Answer.UNSAT and anywhere is Answer.SAT:
            self.rests_on = self._terms.layout.names(starts)
        return answer if answer is Answer.SAT else Answer.UNKNOWN

    def _ask_anywhere(self, assertions: Sequence[Term], starts: Sequence[Term], seconds: float | None) -> Answer:
        """With the objects wherever a linker may put them. Disjointness of many objects is asserted only if it
        matters."""
        layout = self._terms.layout
        if len(starts) > _FEW_OBJECTS:
            alone = [rule for start in starts for rule in layout.alone(start)]
            if self._ask([*assertions, *alone], seconds) is Answer.UNSAT:
                return Answer.UNSAT
        return self._ask([*assertions, *(rule for _, rule in layout.conditions(starts))], seconds)

    def check_anywhere(self, assertions: Sequence[Term], seconds: float) -> Answer:
        """The same without any condition on where objects are: UNSAT needs none."""
        return self._ask(assertions, seconds)

    def _starts(self, assertions: Sequence[Term]) -> list[Term]:
        return self._terms.layout.used(assertions)

    def _ask(self, assertions: Sequence[Term], seconds: float | None) -> Answer:
        if any(a == self._terms.false for a in assertions):
            return Answer.UNSAT
        self._clock.begin(seconds)
        if self._clock.is_up:
            return Answer.UNKNOWN
        self._begin()
        for assertion in assertions:
            if assertion != self._terms.true:
                self._solver.assert_formula(assertion)
        with in_solver():
            result = self._solver.check_sat()
        self._clock.end()
        if result == bitwuzla.Result.UNSAT:
            return Answer.UNSAT
        return Answer.SAT if result == bitwuzla.Result.SAT else Answer.UNKNOWN

    def value(self, term: Term) -> int:
        """The value of a bit-vector in the model of the last SAT answer."""
        return int(self._solver.get_value(term).value(10))

    def holds(self, condition: Term) -> bool:
        """Whether a condition is true in the model of the last SAT answer."""
        return bool(self._solver.get_value(condition).is_true())

    def array_cells(self, array: Term) -> dict[int, int]:
        """The cells of a byte array that the model sets apart, read off its chain of stores."""
        cells: dict[int, int] = {}
        value = self._solver.get_value(array)
        while value.kind() == bitwuzla.Kind.ARRAY_STORE:
            array_part, index, byte = value.children()
            cells.setdefault(int(index.value(10)), int(byte.value(10)))
            value = array_part
        return cells

    def array_elsewhere(self, array: Term) -> int | None:
        """What a byte array has in all cells that the model does not set apart, if that is one value."""
        value = self._solver.get_value(array)
        while value.kind() == bitwuzla.Kind.ARRAY_STORE:
            value = value.children()[0]
        return int(value.children()[0].value(10)) if value.kind() == bitwuzla.Kind.CONST_ARRAY else None
