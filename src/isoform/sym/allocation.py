"""Memory from the library's allocator: blocks allocated, cleared and freed."""

from __future__ import annotations

import math

from isoform.lift.library import MOST_BYTES
from isoform.model.allocation import Allocating, AllocationCall
from isoform.model.contract import Result
from isoform.smt.terms import Term
from isoform.sym.after_call import AfterCall
from isoform.sym.arguments import Passed, label
from isoform.sym.scope import Scope
from isoform.sym.state import State
from isoform.sym.summary import CallSite

_WORD = 8
_SIMPLE = (Allocating.GIVES, Allocating.CLEARS, Allocating.TAKES)
_BLOCK = "(block)"
"""The event of an allocation that may fail: `calloc` is `malloc` with zeros. `operator new` and `new[]` are separate
events: a program may replace each of them, and different functions free their blocks."""


class Allocations:
    """Executes calls of the allocator on states of one function."""

    def __init__(self, scope: Scope, after: AfterCall) -> None:
        self._scope = scope
        self._after = after
        self._side = scope.side
        self._terms = scope.terms

    def allocate(self, function: AllocationCall, passed: Passed, state: State) -> bool:
        """The place of a block depends on its size and on what the allocator did before; memory in use is unchanged.
        False: this is an ordinary call."""
        side, terms, arguments = self._side, self._terms, passed.arguments
        if any(side.mentions_stack(a) for a in arguments) or function.kind not in _SIMPLE:
            return False
        what, seen = function.name, arguments
        if function.kind is not Allocating.TAKES:
            size = self._size(function, arguments)
            if size is None or len(arguments) > len(function.sizes):
                return False
            what, seen = _BLOCK if function.may_fail else function.name, (size,)
        zeros = terms.value(seen[0]) if function.kind is Allocating.CLEARS else 0
        if zeros is None or zeros > MOST_BYTES:
            return False
        before = side.heap.load(state.heap, side.library_state, _WORD)
        name, inputs = label(self._terms, what, seen), [*seen, before]
        domain = [term.sort() for term in inputs]
        after = terms.apply(terms.function_variable(f"{name} next", domain, terms.sort(8 * _WORD)), inputs)
        state.heap = side.heap.store(state.heap, side.library_state, after, _WORD)
        result = side.undefined(side.width)
        if function.kind is Allocating.TAKES:
            side.note_release()
            self._give_back(seen[0], state)
        else:
            place = terms.function_variable(f"{name} block", domain, terms.sort(side.width))
            result = terms.apply(place, inputs)
            side.note_block(state.condition, result, seen[0], not function.may_fail)
            self._clear(result, zeros, state)
        register = side.machine.convention.result[0]
        array = side.heap.array(state.heap)
        self._scope.summary.calls.append(
            CallSite(state.condition, function.name, passed.keys, ((register, result),), array)
        )
        self._after.leave_with((Result(register, side.width),), (result,), state)
        return True

    def _size(self, function: AllocationCall, arguments: tuple[Term, ...]) -> Term | None:
        """The size of a block; None if it is a product that may not fit a word."""
        sizes = [arguments[place] for place in function.sizes]
        if len(sizes) == 1:
            return sizes[0]
        numbers = [self._terms.value(size) for size in sizes]
        known = [number for number in numbers if number is not None]
        if len(known) == len(numbers) and math.prod(known) < 1 << self._side.width:
            return self._terms.bv(math.prod(known), self._side.width)
        return next((s for s, n in zip(sizes, reversed(numbers), strict=True) if n == 1), None)

    def _give_back(self, address: Term, state: State) -> None:
        """The contents of a freed block are not compared: zeros make them equal on both sides."""
        sizes = (self._terms.value(block.size) for block in self._side.blocks if block.address == address)
        size = next(sizes, None)
        if size is not None and size <= MOST_BYTES:
            self._clear(address, size, state)

    def _clear(self, block: Term, size: int, state: State) -> None:
        """Zeros in a block, if there is one."""
        heap, terms = self._side.heap, self._terms
        cleared = state.heap
        for start in range(0, size, _WORD):
            length = min(_WORD, size - start)
            where = terms.add(block, terms.bv(start, self._side.width))
            cleared = heap.store(cleared, where, terms.bv(0, 8 * length), length)
        if cleared is not state.heap:
            missing = terms.eq(block, terms.bv(0, self._side.width))
            state.heap = heap.join(missing, state.heap, cleared)
