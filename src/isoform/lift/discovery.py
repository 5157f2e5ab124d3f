"""The owner of the discovery of code.

Lifting finds the code that instructions clearly lead to. A formula or a run may lead to more: the targets of a computed
jump show only in its value. Whoever reaches such an address reports it here. The code is lifted, checked against the
rules for all code (`refusals.py`), and the question is asked again with it, from the beginning: the contract, what the
two sides share by name, and the assumptions all depend on the code that is present.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeVar

from isoform.lift.function import Function, Hints
from isoform.lift.known_calls import with_known_calls
from isoform.lift.lift import lift
from isoform.lift.refusals import refuse_code
from isoform.lift.returning import without_returns
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported, UserError

MOST_ROUNDS = 12
"""How often a question is asked again because more code was found."""

Targets = Mapping[int, Collection[int]]
"""By the address of the jump or call that leads there."""
Answer = TypeVar("Answer")


class Need(NamedTuple):
    """Code that a function leads to and does not contain."""

    side: int
    function: Function
    targets: Targets


class CodeNeeded(Exception):
    """The question is to be asked again, with more code. Only `Discovery.fixpoint` catches this."""


class Discovery:
    """What was found about the computed jumps on the two sides of a question, including companions, and how often the
    question was asked."""

    def __init__(self, budget: Budget | None = None) -> None:
        self._budget = budget
        self._hints: list[Hints] = [{}, {}]
        self._refused: list[dict[int, str]] = [{}, {}]
        """Targets that were not added, and the reasons."""
        self._rounds = 0

    def hints(self, side: int) -> Hints:
        """The hints with which a function of this side is lifted."""
        return self._hints[side]

    def fixpoint(self, ask: Callable[[Discovery], Answer]) -> Answer:
        """The answer of `ask` once it needs no more code, or no more can be added."""
        while True:
            try:
                return ask(self)
            except CodeNeeded:
                self._rounds += 1

    def require(self, needs: Iterable[Need]) -> None:
        """Raise `CodeNeeded` if some of these targets are new and can be followed."""
        if self._rounds >= MOST_ROUNDS:
            return
        added = [self._add(need) for need in needs]
        if any(added):
            raise CodeNeeded

    def why_without(self, need: Need) -> str:
        """Why needed code is missing; "" if nothing kept it out."""
        wanted = {target for targets in need.targets.values() for target in targets}
        refused = [why for target, why in self._refused[need.side].items() if target in wanted]
        if refused:
            return refused[0]
        return f"its jumps led to more code in each of {MOST_ROUNDS} rounds" if self._new(need) else ""

    def _new(self, need: Need) -> dict[int, set[int]]:
        hints, refused = self._hints[need.side], self._refused[need.side].keys()
        left = {jump: set(found) - hints.get(jump, frozenset()) - refused for jump, found in need.targets.items()}
        return {jump: targets for jump, targets in left.items() if targets}

    def _add(self, need: Need) -> bool:
        """Whether there are new targets, and the function with them obeys the rules for all code."""
        new, known = self._new(need), self._hints[need.side]
        if not new:
            return False
        hints = {**known, **{jump: known.get(jump, frozenset()) | targets for jump, targets in new.items()}}
        try:
            with_hints(need.function, hints, self._budget)
        except (Unsupported, UserError) as reason:
            self._refused[need.side] |= {target: str(reason) for targets in new.values() for target in targets}
            return False
        self._hints[need.side] = hints
        return True


class Pieces:
    """Code that runs of a function reach and that is not in it: each piece is lifted once, as a function of its own. A
    run continues in a piece at once. Asking the question again matters only for claims about all inputs."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._known: dict[int, Function | None] = {}
        self.refused: dict[int, str] = {}
        """Addresses of code that breaks the rules or cannot be lifted, and why: a run that gets there decides
        nothing."""
        self.jumps: dict[int, set[int]] = {}
        """Targets of computed jumps within a function."""
        self.entered: dict[int, set[int]] = {}
        """Targets of all computed jumps and calls that led to code which is present."""

    def at(self, address: int) -> Function | None:
        """The code at an address; None if there is none that can be followed."""
        real = self._function.image.aliases.get(address, address)
        if real not in self._known:
            self._known[real] = self._piece(real)
        return self._known[real]

    def note_jump(self, jump: int, target: int) -> None:
        """A run took a computed jump. A jump to the start of a function is a call, and callees are compared by address.
        Machines without a convention share nothing by name, so there is no reason to ask again."""
        function = self._function
        self.note_entered(jump, target)
        symbol = function.image.symbol_at(function.image.aliases.get(target, target))
        if function.machine.convention.stack_pointer is not None and (symbol is None or not symbol.is_function):
            self.jumps.setdefault(jump, set()).add(target)

    def note_entered(self, jump: int, target: int) -> None:
        """A run took a computed jump or call to code that is present."""
        self.entered.setdefault(jump, set()).add(target)

    def _piece(self, address: int) -> Function | None:
        function = self._function
        if not function.image.code_at(address) or address % function.machine.instruction_alignment:
            return None
        try:
            piece = _lifted(function, address, function.hints)
            refuse_code(piece)
        except (Unsupported, UserError) as reason:
            self.refused[address] = str(reason)
            return None
        return with_known_calls(without_returns(piece, function.never_returning), function.library)


def with_hints(function: Function, hints: Hints, budget: Budget | None) -> Function:
    """The function with the code that these computed jumps and calls lead to. Raises `Unsupported` if that code breaks
    the rules for all code."""
    found = _lifted(function, function.entry.address, hints, budget)
    refuse_code(found)
    return found


def _lifted(like: Function, entry: int, hints: Hints, budget: Budget | None = None) -> Function:
    """The code at an address, lifted as another function of the file was."""
    return replace(lift(like.image, like.machine, like.name, entry, like.inlines, hints, budget), alone=like.alone)
