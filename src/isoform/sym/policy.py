"""What differs between symbolic executions: where one starts and stops, what it does at a branch, what an instruction
yields.

The encoder (`execute.py`) asks its policy; everything else is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import NamedTuple

from isoform.lift.function import BlockId, Function, Stop
from isoform.model.microop import MicroOp
from isoform.model.values import dataclass
from isoform.smt.terms import Term
from isoform.sym.scope import Scope
from isoform.sym.side import Side
from isoform.sym.state import State, initial_state
from isoform.sym.step import Temps
from isoform.sym.summary import GapKind

MOST_FIXED_ITERATIONS = 4096
"""Iterations of a loop whose exit does not depend on inputs."""


class Point(NamedTuple):
    """One execution of one micro-op."""

    block: BlockId
    number: int
    """Of the micro-op in the block."""
    layer: int
    """How often loops were iterated before."""
    address: int
    """Of the instruction."""
    op: MicroOp


ValueRule = Callable[[Point, State, Term], Term]
"""What a micro-op yields (writes or stores) instead of its computed value."""


@dataclass(kw_only=True)
class Policy:
    """Every path of a function from its entry to its ends; states are merged where paths join, and no loop is iterated.
    A policy is responsible for its encoding: what it does not follow it records as a gap, or its user knows that the
    summary is about the followed paths only."""

    entry: Callable[[Side], State] = initial_state
    """The state in which it starts. This is where an argument is replaced (`entry.with_arguments`)."""
    value: ValueRule | None = None
    """What micro-ops yield, if not what they compute. In code as listed (`Function.as_listed`) what an instruction does
    follows from the values of its micro-ops; in simplified code later instructions may not read them."""

    # -- where to start and to stop -------------------------------------------------------------

    def start(self, scope: Scope) -> BlockId:
        return scope.function.entry

    def order(self, function: Function) -> Sequence[BlockId]:
        """Blocks in an order in which every edge inside a layer leads forward."""
        return function.order

    def enter_layer(self, scope: Scope, conditions: list[Term]) -> None:
        """A layer begins; `conditions` are those of all states that arrive in it from the layer before."""

    def goes_on(self, scope: Scope, state: State) -> bool:
        """Whether to execute the block at which `state` arrives."""
        return True

    def follow(self, scope: Scope, target: BlockId, state: State) -> int | None:
        """The layer in which the edge to `target` arrives; None if it is not followed."""
        if (scope.block.id, target) not in scope.function.back_edges:
            return scope.layer
        self._note_loop(scope, target, state)
        return None

    def _note_loop(self, scope: Scope, target: BlockId, state: State) -> None:
        name = scope.function.name
        scope.gap(GapKind.LOOP_BOUND, state.condition, f"{name} loops back to {target.address:#x}")

    def finish(self, scope: Scope, target: Term, state: State) -> None:
        """The function returns to the address `target`."""
        scope.summary.add_return(target, state)

    # -- what to do at a branch -----------------------------------------------------------------

    def branch(self, scope: Scope, state: State, condition: Term) -> tuple[Term, Term]:
        """The path conditions of taking a branch and of not taking it."""
        terms, context = scope.terms, scope.side.context
        scope.note_decision(condition)
        if context is not None:
            return context.branch(terms, (scope.layer, scope.block.id), state.condition, condition)
        return terms.conj(state.condition, condition), terms.conj(state.condition, terms.negate(condition))

    def leave(self, scope: Scope, state: State, temps: Temps) -> bool:
        """Whether the policy has executed the end of the block itself, because it knows where that leads."""
        return False

    # -- what instructions do -------------------------------------------------------------------

    def fault(self, scope: Scope, state: State, condition: Term) -> None:
        """An instruction faults if a condition holds."""
        scope.abort(state, condition)

    def access(self, scope: Scope, state: State, address: Term, size: int, is_store: bool) -> None:
        """Memory is about to be read or written. On a machine whose program can be written, a store that may hit an
        instruction is a gap."""
        if not is_store:
            return
        for low, high in scope.function.writable_code:
            terms, width = scope.terms, scope.side.width
            index = terms.sub(address, terms.bv(low - size + 1, width))
            hits = terms.ult(index, terms.bv(high - low + size - 1, width))
            if hits == terms.false:
                continue
            condition = terms.conj(state.condition, hits)
            scope.gap(GapKind.UNSUPPORTED, condition, f"{scope.function.name} writes to its own code")
            state.condition = terms.conj(state.condition, terms.negate(hits))

    def bound(self, scope: Scope, state: State, inside: Term, number: int) -> None:
        """The next access is meant to be inside an object, the one of `Function.bounds` with this number."""
        bound = scope.function.bounds[number]
        if bound.is_sure:
            scope.side.assume_bound(state.condition, inside, bound.name)
        else:
            scope.side.likely.append((state.condition, inside))

    def unsupported(self, scope: Scope, state: State) -> None:
        """An instruction without semantics is reached."""
        function, block, address = scope.function, scope.block, scope.address
        text = f"`{function.instructions[address].text}` at {address:#x}"
        stopped = isinstance(block.exit, Stop) and block.exit.why.startswith("a call") and block.exit.why
        plain = f"{text}: {stopped}" if stopped else f"{text}, which has no semantics here"
        why = function.refused.get(address, plain)
        scope.gap(GapKind.UNSUPPORTED, state.condition, f"{function.name} reaches {why}")


@dataclass(kw_only=True)
class Unrolled(Policy):
    """The same with loops unrolled: the k-th iteration is a further layer of the same blocks. Inputs that would need
    more layers are a gap."""

    unroll: int = 0
    """Most layers that are reached by some but not all inputs that reach the previous one."""
    _symbolic_layers: int = field(default=0, init=False)
    _last_condition: Term | None = field(default=None, init=False)

    def enter_layer(self, scope: Scope, conditions: list[Term]) -> None:
        """Count an iteration as symbolic if not all inputs that reach the previous one reach it."""
        terms = scope.terms
        last = terms.true if self._last_condition is None else self._last_condition
        if terms.any_of(conditions) != last:
            self._symbolic_layers += 1
        self._last_condition = terms.any_of(conditions)

    def follow(self, scope: Scope, target: BlockId, state: State) -> int | None:
        if (scope.block.id, target) not in scope.function.back_edges:
            return scope.layer
        if scope.layer + 1 > MOST_FIXED_ITERATIONS or self._symbolic_layers >= self.unroll:
            self._note_loop(scope, target, state)
            return None
        return scope.layer + 1
