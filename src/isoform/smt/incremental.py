"""A solver that stays on a path: what two consecutive questions have in common is asserted once."""

from __future__ import annotations

import time
from collections.abc import Sequence

from isoform.model.budget import Budget
from isoform.smt.solver import Answer, Solver
from isoform.smt.terms import Term, Terms


class PathSolver(Solver):
    """Holds the conditions of one path, one level each. To ask about another path it backtracks to where the two
    diverge and asserts only what is new from there."""

    def __init__(self, terms: Terms, budget: Budget, always: Sequence[Term] = ()) -> None:
        super().__init__(terms, budget)
        self._asking = False
        self._always = list(always)
        for term in always:
            self._solver.assert_formula(term)
        self._path: list[Term] = []
        self.seconds = 0.0
        self.checks = 0

    def check_after(self, path: Sequence[Term], more: Sequence[Term], seconds: float | None = None) -> Answer:
        """Whether `more` can hold at the end of `path`. After SAT the model can be read until the next call."""
        started = time.perf_counter()
        self._pop()
        self._go_to(path)
        answer = self.check(more, seconds)
        self.seconds += time.perf_counter() - started
        self.checks += 1
        return answer

    def _starts(self, assertions: Sequence[Term]) -> list[Term]:
        return self._terms.layout.used([*self._always, *self._path, *assertions])

    def _begin(self) -> None:
        self._pop()
        self._solver.push(1)
        self._asking = True

    def _pop(self) -> None:
        if self._asking:
            self._solver.pop(1)
            self._asking = False

    def _go_to(self, path: Sequence[Term]) -> None:
        common = 0
        for held, wanted in zip(self._path, path, strict=False):
            if held != wanted:
                break
            common += 1
        if common < len(self._path):
            self._solver.pop(len(self._path) - common)
            del self._path[common:]
        for term in path[common:]:
            self._solver.push(1)
            self._solver.assert_formula(term)
            self._path.append(term)
