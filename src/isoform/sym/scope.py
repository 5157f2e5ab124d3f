"""What all parts of one symbolic execution share, and what they record."""

from __future__ import annotations

from isoform.lift.function import Function
from isoform.model.callee import Callees
from isoform.smt.rules.widths import signed
from isoform.smt.terms import Term
from isoform.sym.given import FrameLocals
from isoform.sym.recursion import calls_itself
from isoform.sym.side import BasedAccess, Side
from isoform.sym.state import VALID_MEMORY, State
from isoform.sym.summary import Fault, Gap, GapKind, Summary

_MOST_BLOCKS_BEFORE = 8
"""Looked at for what is just behind."""


class Scope:
    """One function on one side, what is known about its callees, and the summary as far as it is complete."""

    def __init__(self, side: Side, function: Function, callees: Callees) -> None:
        if function.assumes_alignment:
            side.world.assume(VALID_MEMORY)
        self.side = side
        self.terms = side.terms
        self.function = function
        self.callees = callees
        self.summary = Summary(side, aborts=side.terms.false, recursive=calls_itself(function))
        self.block = function.blocks[function.entry]
        """The block that is executed, or is to be executed next."""
        self.layer = 0
        self.number = 0
        """Index of the micro-op in it; at its exit, the number of micro-ops."""
        self._bases = side.world.bases_of(function) if side.tag == "a" else {}
        if side.follows_locals:
            side.locals = FrameLocals(
                side.terms,
                side.width,
                function,
                lambda: (self.block.id.context, self._last_address),
                self._steps_before,
                lambda condition, why: self.gap(GapKind.UNSUPPORTED, condition, f"{function.name} {why}"),
            )

    def _steps_before(self) -> list[int]:
        """Instructions up to what is executed, with no place in between to which other code jumps."""
        block, steps = self.block, [*self.block.steps]
        for _ in range(_MOST_BLOCKS_BEFORE):
            before = self.function.predecessors[block.id]
            if len(before) != 1 or block.id == self.function.entry:
                break
            block = self.function.blocks[before[0]]
            steps += block.steps
        return steps

    @property
    def _last_address(self) -> int:
        """Of the instruction that is executed, at the block's exit the last one."""
        if self.number < len(self.block.addresses):
            return self.block.addresses[self.number]
        return self.block.steps[-1] if self.block.steps else self.block.id.address

    @property
    def address(self) -> int:
        """Of the instruction."""
        return self.block.addresses[self.number]

    def note_access(self, state: State, address: Term, size: int, is_store: bool) -> None:
        """The micro-op loads or stores. After an outside call, which may not return, it may not be executed at all."""
        base = self._bases.get((self.block.id, self.number))
        if self.side.heap.promised is not None:
            self.side.heap.promised.current = base
        if base is not None and self.side.before_calls is None:
            self.side.based_accesses.append(BasedAccess(base, is_store, state.condition, address, size))

    def end_access(self) -> None:
        """What is read from now on is no access of the micro-op."""
        if self.side.heap.promised is not None:
            self.side.heap.promised.current = None

    def gap(self, kind: GapKind, condition: Term, why: str) -> None:
        self.summary.gaps.append(Gap(kind, condition, why))

    def abort(self, state: State, condition: Term) -> None:
        """The function ends here in a fault if a condition holds."""
        self.note_decision(condition)
        aborts = self.terms.conj(state.condition, condition)
        self.summary.aborts = self.terms.disj(self.summary.aborts, aborts)
        self.summary.faults.append(Fault(aborts, state.heap))
        state.condition = self.terms.conj(state.condition, self.terms.negate(condition))

    def note_decision(self, condition: Term) -> None:
        """The behaviour of a function depends on a condition. (Without recursion the place of its stack is irrelevant:
        both sides have theirs at the same place.)"""
        self.side.refuse_open(condition)
        if self.side.world.recursive and self.side.mentions_stack(condition):
            self.side.world.note_stack_shown()

    def stack_distance(self, state: State) -> int:
        """The distance of the stack pointer from its value at entry."""
        convention = self.side.machine.convention
        assert convention.stack_pointer is not None
        return signed(self.terms.split_sum(state.container_named(convention.stack_pointer))[1], self.side.width)
