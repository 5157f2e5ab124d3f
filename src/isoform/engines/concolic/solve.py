"""New inputs for the next path: a model of its conditions, combined with the old inputs where they are not affected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from isoform.borders.question import Question
from isoform.engines.concolic.path import PathSnapshot
from isoform.engines.concolic.pointers import Pointers
from isoform.engines.model import call_effects
from isoform.model.budget import Budget
from isoform.model.outcome import RETURN_ADDRESS, STACK_POINTER, Inputs
from isoform.smt.float_definitions import definitions
from isoform.smt.incremental import PathSolver
from isoform.smt.solver import Answer
from isoform.smt.terms import Term
from isoform.sym.side import Side

SECONDS = 3.0
"""For one question about one path."""
MEMORY = "memory"


class InputSolver:
    """Finds inputs that take a path of one side."""

    def __init__(self, question: Question, side: Side, budget: Budget, pointers: Pointers) -> None:
        self._question = question
        self._side = side
        self._terms = side.terms
        self._pointers = pointers
        self._symbols: dict[Term, frozenset[str]] = {}
        self._variables: dict[str, Term] = {}
        self._with_meaning: dict[Term, Term] = {}
        always = [self._meant(term) for _, term in side.world.constraints]
        self.solver = PathSolver(side.terms, budget, always)
        self._always = frozenset[str]().union(*(self.symbols(term) for term in always))

    def solve(
        self, edges: Sequence[Term], more: Term, before: PathSnapshot | None, old: Inputs
    ) -> tuple[Answer, Inputs | None]:
        """Inputs that take the path of `edges` and then satisfy `more`. `before` is where `old` left that path: what
        was read until then may be part of the answer. Everything that is not connected with `more` stays as it was."""
        meant = [self._meant(edge) for edge in edges]
        kept = before.path.kept[: before.kept] if before is not None else []
        last = self._terms.all_of([self._meant(more), *kept])
        answer = self.solver.check_after(meant, [last], SECONDS)
        if answer is not Answer.SAT:
            return answer, None
        changed = self._connected([*edges, *kept, *(term for _, term in self._side.world.constraints)], more)
        if not self._prefer_simple_shapes(meant, last, before):
            return Answer.UNKNOWN, None
        return answer, self._inputs(changed, before, old)

    def _prefer_simple_shapes(self, meant: list[Term], last: Term, before: PathSnapshot | None) -> bool:
        """Ask again for pointers that are as simple as possible; the model is the first that exists. False: there is
        none, for lack of time."""
        wished = False
        bases = before.path.pointers[: before.pointers] if before is not None else []
        for wish in self._pointers.wishes(bases):
            wished = True
            if self.solver.check_after(meant, [last, *wish], SECONDS) is Answer.SAT:
                return True
        return not wished or self.solver.check_after(meant, [last], SECONDS) is Answer.SAT

    # -- what the runner gives to unknowns ------------------------------------------------------

    def _meant(self, term: Term) -> Term:
        """A condition together with what holds in every concrete run for the unknowns in it."""
        found = self._with_meaning.get(term)
        if found is None:
            more = [self._pin(name) for name in self.symbols(term)]
            if self._terms.uses_floats:
                more += definitions(self._terms, [term])
            found = self._with_meaning[term] = self._terms.all_of([term, *more])
        return found

    def _pin(self, name: str) -> Term:
        terms = self._terms
        variable = self._variables[name]
        if not variable.sort().is_bv():
            return terms.true
        width = terms.width(variable)
        if name.startswith(("undefined_", "frame_")):
            return terms.eq(variable, terms.bv(0, width))
        if name == "return_address":
            return terms.eq(variable, terms.bv(RETURN_ADDRESS, width))
        if name == self._side.machine.convention.stack_pointer:
            return terms.eq(variable, terms.bv(STACK_POINTER, width))
        return terms.true

    # -- which inputs a condition is about ------------------------------------------------------

    def symbols(self, term: Term) -> frozenset[str]:
        """Names of the unknowns in a term."""
        known = self._symbols
        pending = [term]
        while pending:
            top = pending[-1]
            if top in known:
                pending.pop()
                continue
            if top.is_const():
                name = top.symbol()
                assert name is not None
                self._variables[name] = top
                known[top] = frozenset((name,))
                continue
            children = top.children()
            missing = [child for child in children if child not in known]
            if missing:
                pending += missing
                continue
            known[top] = frozenset[str]().union(*(known[child] for child in children))
            pending.pop()
        return known[term]

    def _connected(self, conditions: Sequence[Term], start: Term) -> set[str]:
        """The unknowns of `start`, and of every condition that shares one with those found."""
        found = set(self.symbols(start))
        rest = [self.symbols(condition) for condition in conditions]
        grown = True
        while grown:
            grown = False
            for symbols in rest:
                if not symbols <= found and not symbols.isdisjoint(found):
                    found |= symbols
                    grown = True
        return found

    # -- reading the model ----------------------------------------------------------------------

    def _inputs(self, changed: set[str], before: PathSnapshot | None, old: Inputs) -> Inputs:
        machine = self._side.machine
        fixed = {*machine.initial, machine.convention.stack_pointer, machine.convention.return_address}
        registers = dict(old.registers)
        for name in changed:
            if name in machine.registers and name not in fixed:
                registers[name] = self.solver.value(self._side.entry.register(name))
        memory = dict(old.memory)
        memory.update(self._stack_words(changed))
        if MEMORY in changed:
            memory.update(self._cells(before))
        made = before.path.calls[: before.calls] if before is not None else []
        made = [replace(site, condition=self._terms.true) for site in made]
        calls = {**old.call_results, **call_effects(self._question, made, self.solver)}
        return replace(old, registers=registers, memory=memory, call_results=calls)

    def _stack_words(self, changed: set[str]) -> Iterator[tuple[int, int]]:
        for name in changed:
            if name.startswith("stack_") and name[6:].isdigit():
                value = self.solver.value(self._variables[name])
                for index in range(8):
                    yield STACK_POINTER + int(name[6:]) + index, value >> (8 * index) & 0xFF

    def _cells(self, before: PathSnapshot | None) -> dict[int, int]:
        """Bytes of memory at entry: those that the model sets, and those that the path read."""
        side, terms = self._side, self._terms
        array = terms.array_variable(MEMORY, side.width)
        cells = self.solver.array_cells(array)
        for address, size in dict.fromkeys(before.path.loads[: before.loads]) if before is not None else ():
            where = self.solver.value(address)
            for index in range(size):
                byte = terms.select(array, terms.add(address, terms.bv(index, side.width)))
                cells[(where + index) % (1 << side.width)] = self.solver.value(byte)
        images = self._question.target.image, self._question.rewrite.image
        return {a: b for a, b in cells.items() if all(image.constant_bytes(a, 1) is None for image in images)}
