"""Which calls return: by the declaration, by a name of the C library, or because there is no code after the call."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cached_property

from isoform.lift.function import Block, BlockId, Call, Function
from isoform.load.image import Image, Symbol
from isoform.model.library import library_function
from isoform.model.microop import Instruction, Kind, Space


class Returning:
    """For the calls of one image. `decode` gives the instruction at an address."""

    def __init__(self, image: Image, decode: Callable[[int], Instruction]) -> None:
        self._image = image
        self._decode = decode
        self._targets: dict[int, frozenset[int] | None] = {}

    def comes_back(self, name: str | None, address: int, after: int) -> bool:
        """Whether the call at `address` of an outside function returns to `after`."""
        if self.nothing_follows(address, after):
            return False
        declared = self._image.signatures.get(name or "")
        if declared is not None:
            return declared.returns
        return not library_function(name or "").never_returns or self._only_follows_call(address, after)

    def nothing_follows(self, address: int, after: int) -> bool:
        """Whether what follows a call is not code of the calling function: it is the next function, or nothing. A
        compiler that knows that a call does not return writes no code after it."""
        if not self._image.code_at(after, 1):
            return True
        symbol = self._function_around(address)
        if symbol is not None and symbol.size:
            return after >= symbol.address + symbol.size
        return after in self._starts

    def _only_follows_call(self, address: int, after: int) -> bool:
        """Whether the code after a call is reached only by returning from it, as far as the function's jumps show. If
        so, a function with the name of one that never returns does return."""
        symbol = self._function_around(address)
        if symbol is None or not symbol.size:
            return False
        if symbol.address not in self._targets:
            self._targets[symbol.address] = self._jumps_of(symbol)
        targets = self._targets[symbol.address]
        return targets is not None and after not in targets

    def _jumps_of(self, symbol: Symbol) -> frozenset[int] | None:
        """The targets of a function's direct jumps; None if there are other jumps."""
        found: set[int] = set()
        address, end = symbol.address, symbol.address + symbol.size
        while address < end and self._image.code_at(address, 1):
            instruction = self._decode(address)
            for op in instruction.ops:
                if op.kind is Kind.BRANCHIND:
                    return None
                if op.kind in (Kind.BRANCH, Kind.CBRANCH) and op.ins[0].space is not Space.INNER:
                    found.add(op.ins[0].offset)
            address = max(instruction.next_address, address + 1)
        return frozenset(found)

    @cached_property
    def _functions(self) -> tuple[list[int], list[Symbol]]:
        ordered = sorted((s for s in self._image.symbols if s.is_function), key=lambda s: s.address)
        return [s.address for s in ordered], ordered

    @cached_property
    def _starts(self) -> frozenset[int]:
        return frozenset(self._functions[0])

    def _function_around(self, address: int) -> Symbol | None:
        starts, ordered = self._functions
        index = bisect_right(starts, address) - 1
        found = ordered[index] if index >= 0 else None
        return found if found is not None and address < found.address + max(found.size, 1) else None


def leaves(image: Image, name: str) -> bool:
    """Whether an outside function never returns to its caller: by its declaration, else by its name."""
    declared = image.signatures.get(name)
    return library_function(name).never_returns if declared is None else not declared.returns


def never_returning(functions: Collection[Function]) -> frozenset[str]:
    """Outside functions that never return: no code follows one of their calls, and no declaration says otherwise.
    Unrelated code may follow their other calls."""
    calls = [b.exit for f in functions for b in f.blocks.values() if isinstance(b.exit, Call) and not b.exit.system]
    signatures = [f.image.signatures for f in functions]
    ended = {call.callee for call in calls if call.then is None and call.callee}
    return frozenset(n for n in ended if not any(n in s and s[n].returns for s in signatures))


def without_returns(function: Function, names: Collection[str]) -> Function:
    """The function with its calls of `names` as calls that never return."""
    blocks = {number: _ended(block, names) for number, block in function.blocks.items()}
    if blocks == function.blocks:
        return function
    reached: set[BlockId] = set()
    pending = [function.entry]
    while pending:
        block = pending.pop()
        if block not in reached:
            reached.add(block)
            pending += blocks[block].successors
    kept = {number: block for number, block in blocks.items() if number in reached}
    return replace(function, blocks=kept, never_returning=function.never_returning | frozenset(names))


def _ended(block: Block, names: Collection[str]) -> Block:
    call = block.exit
    if not isinstance(call, Call) or call.system or call.then is None or call.callee not in names:
        return block
    return replace(block, exit=replace(call, then=None))
