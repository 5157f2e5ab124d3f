"""Calls of a function to itself with code in their place: the function's own, or the other side's.

The code is copied once for each call, as that of other callees is (`cfg.py`). It runs below the caller's frame on the
caller's stack, and returns to the caller.

A function whose own code stands in the place of its deeper calls is the same function. That the other side's code may
stand there is an induction hypothesis; `Unfolded.ENTERED` and `Unfolded.LEFT` mark where the encoder has to show what
the hypothesis requires and may use no more than it says (`sym/recursion.py`). In either case registers that no caller
may rely on are unknown afterwards: the code was simplified for callers that do not read them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from isoform.lift.cfg import SELF
from isoform.lift.function import (
    Block,
    BlockId,
    Branch,
    Call,
    Exit,
    Function,
    Goto,
    Listed,
    Return,
    Switch,
    Unfolded,
)
from isoform.model.errors import Unsupported
from isoform.model.microop import Kind, MicroOp, Space, const

_Ops = tuple[MicroOp, ...]
_Addresses = tuple[int, ...]
MOST_BLOCKS = 2000
"""Of a function with code in the place of its calls."""
_PART = 1 << 22
"""Micro-op index of the blocks made here: no instruction has so many, and neither a tail call nor a library call
(`cfg.py`, `library.py`)."""


def deeper_calls(function: Function) -> tuple[BlockId, ...]:
    """The blocks that end in a call of the function to itself."""
    return tuple(number for number, block in function.blocks.items() if _deeper_call(block) is not None)


def final_calls(function: Function) -> tuple[BlockId, ...]:
    """Those after which no path makes another one."""
    calls = frozenset(deeper_calls(function))
    return tuple(number for number in calls if not calls & _after(function, number))


def _after(function: Function, number: BlockId) -> set[BlockId]:
    found: set[BlockId] = set()
    pending = [*function.blocks[number].successors]
    while pending:
        block = pending.pop()
        if block not in found:
            found.add(block)
            pending += function.blocks[block].successors
    return found


def unfolded(function: Function, body: Function, calls: Collection[BlockId]) -> Function:
    """The function with the code of `body` in the place of some of its calls to itself. `body` is the function before
    anything was put there, or the other side."""
    is_own = body.image is function.image and body.entry == function.entry
    if not is_own:
        _refuse_other_things(function, body)
    if len(function.blocks) + len(calls) * (len(body.blocks) + 1) > MOST_BLOCKS:
        raise Unsupported(f"{function.name} with its deeper calls is larger than {MOST_BLOCKS} blocks")
    blocks = dict(function.blocks)
    for number in calls:
        copy = _Copy(function.blocks[number], body, is_own)
        blocks.update((block.id, block) for block in copy.blocks())
    return replace(
        function,
        blocks=blocks,
        instructions={**body.instructions, **function.instructions},
        inlined=tuple(dict.fromkeys((*function.inlined, *body.inlined))),
        written_out=function.written_out | body.written_out,
        pointer_types={**body.pointer_types, **function.pointer_types},
        library=tuple({call.name: call for call in (*body.library, *function.library)}.values()),
        refused={**body.refused, **function.refused},
        assumes_alignment=function.assumes_alignment or body.assumes_alignment,
    )


def _deeper_call(block: Block) -> Call | None:
    call = block.exit
    is_deeper = isinstance(call, Call) and call.callee == SELF and call.unfolded is None and call.then is not None
    return call if isinstance(call, Call) and is_deeper else None


def _refuse_other_things(function: Function, body: Function) -> None:
    """Code of another file may stand here only if it names nothing: constants, variables and tables of its own file are
    not in this one."""
    if function.image.path == body.image.path and function.image.symbols == body.image.symbols:
        return
    named = (var for block in body.blocks.values() for op in block.ops for var in op.ins if var.space is Space.ADDRESS)
    if next(named, None) is not None or any(isinstance(block.exit, Switch) for block in body.blocks.values()):
        raise Unsupported(
            f"{body.name} uses variables, constants or tables of its own file: it does not replace the deeper call of "
            f"{function.name}"
        )


class _Copy:
    """The code in the place of one call."""

    def __init__(self, site: Block, body: Function, is_own: bool) -> None:
        call = _deeper_call(site)
        assert call is not None
        assert call.then is not None
        self._site, self._call, self._after, self._body = site, call, call.then, body
        self._is_own = is_own
        self._prefix = (*self._after.context, self._after.address)
        self._left = BlockId(self._prefix, self._after.address, _PART)

    def blocks(self) -> list[Block]:
        entry = self._there(self._body.entry)
        enter = Goto(entry) if self._is_own else replace(self._call, then=entry, unfolded=Unfolded.ENTERED)
        end = Unfolded.OWN_LEFT if self._is_own else Unfolded.LEFT
        leave = Call(SELF, const(0, self._call.value.size), self._after, unfolded=end)
        inside = [self._copied(block) for block in self._body.blocks.values()]
        return [replace(self._site, exit=enter), *inside, Block(self._left, (), (), (), leave)]

    def _there(self, block: BlockId) -> BlockId:
        return BlockId((*self._prefix, *block.context), block.address, block.part)

    def _copied(self, block: Block) -> Block:
        ops, addresses = self._kept(block.ops, block.addresses)
        listed = block.listed
        if listed is not None:
            listed = Listed(*self._kept(listed.ops, listed.addresses), listed.value)
        exit_ = self._exit(block.exit)
        return replace(block, id=self._there(block.id), ops=ops, addresses=addresses, exit=exit_, listed=listed)

    def _kept(self, ops: _Ops, addresses: _Addresses) -> tuple[_Ops, _Addresses]:
        """Without assumptions about local variables, which are elsewhere here. The other side's code makes accesses
        here of which nothing is assumed."""
        kept = [each for each in zip(ops, addresses, strict=True) if not self._is_dropped(each[0])]
        return tuple(op for op, _ in kept), tuple(address for _, address in kept)

    def _is_dropped(self, op: MicroOp) -> bool:
        if op.kind is not Kind.ASSUME:
            return False
        return not self._is_own or self._body.bounds[op.ins[1].offset].is_local

    def _exit(self, exit_: Exit) -> Exit:
        there = self._there
        match exit_:
            case Goto(target):
                return Goto(there(target))
            case Branch(_, then, otherwise):
                return replace(exit_, then=there(then), otherwise=there(otherwise))
            case Switch(_, targets, elsewhere):
                moved = tuple((address, there(target)) for address, target in targets)
                other = None if elsewhere is None else self._moved(elsewhere)
                return replace(exit_, targets=moved, elsewhere=other)
            case Return(_, to):
                return replace(exit_, to=self._left if to is None else there(to))
            case Call():
                return self._moved(exit_)
            case _:
                return exit_

    def _moved(self, call: Call) -> Call:
        return call if call.then is None else replace(call, then=self._there(call.then))
