"""Addresses that code forms in two instructions.

The instruction with the lower part of an address is taken for one that has the whole address, whatever its register
holds, and the register of the upper part for undefined. That is right only if the register holds that upper part there,
and if nothing else uses it: it is close to the object, and what is there could be reached from it. So a forward data
flow follows the upper parts through the function: which of them a register may hold. A function is refused where an
instruction with a lower part may find anything but the upper part of the same address, and where another instruction
may read an upper part.
"""

from __future__ import annotations

from isoform.lift.function import Block, BlockId, Function, exit_value, outside_call
from isoform.model.errors import Unsupported
from isoform.model.microop import MicroOp, Space, Var

_Upper = tuple[str, int]
_Uppers = dict[Var, frozenset[_Upper | None]]
"""By register: the upper parts (`AddressPart.upper`) that it may hold, with None if it may hold anything else. A
register that is not listed holds none."""
_NONE: frozenset[_Upper | None] = frozenset({None})


def refuse_lone_parts(function: Function) -> None:
    """Raise `Unsupported` if the two parts of an address are used in any other way than together."""
    parts = function.image.address_parts
    if not parts or not any(address in parts for address in function.instructions):
        return
    entries: dict[BlockId, _Uppers] = {function.entry: {}}
    pending = [function.entry]
    while pending:
        block = function.blocks[pending.pop()]
        after = _after(block, dict(entries[block.id]), function)
        for successor in block.successors:
            before = entries.get(successor)
            both = after if before is None else _joined(before, after)
            if before is None or both != before:
                entries[successor] = both
                pending.append(successor)
    for block_id, uppers in entries.items():
        _check(function.blocks[block_id], dict(uppers), function)


def _joined(one: _Uppers, other: _Uppers) -> _Uppers:
    return {var: one.get(var, _NONE) | other.get(var, _NONE) for var in one.keys() | other.keys()}


def _after(block: Block, uppers: _Uppers, function: Function) -> _Uppers:
    """What registers may hold at the end of a block. A call of outside code may leave an upper part or change it."""
    for op, address, _ in block.in_order():
        _step(uppers, op, address, function)
    return uppers if outside_call(block.exit) is None else {var: held | _NONE for var, held in uppers.items()}


def _step(uppers: _Uppers, op: MicroOp, address: int, function: Function) -> None:
    out = op.out
    if out is None or out.space is not Space.REGISTER:
        return
    for var in [v for v in uppers if _overlap(v, out)]:
        if out.offset <= var.offset and var.offset + var.size <= out.offset + out.size:
            del uppers[var]
        else:
            uppers[var] |= _NONE
    part = function.image.address_parts.get(address)
    if part is not None and part.whole is None:
        uppers[out] = frozenset({part.upper})


def _check(block: Block, uppers: _Uppers, function: Function) -> None:
    for op, address, is_first in block.in_order():
        part = function.image.address_parts.get(address)
        # The first micro-op of an instruction with a lower part reads the register: see `PartDecoder`.
        if is_first and part is not None and part.whole is not None:
            if uppers.get(op.ins[0], _NONE) != {part.upper}:
                raise Unsupported(
                    f"{function.name} at {address:#x} adds the lower part of an address to a register that need not "
                    "hold its upper part"
                )
        else:
            _refuse_read(uppers, op.ins, address, function)
        _step(uppers, op, address, function)
    value = exit_value(block.exit)
    if value is not None and block.steps:
        _refuse_read(uppers, (value,), block.steps[-1], function)


def _refuse_read(uppers: _Uppers, read: tuple[Var, ...], address: int, function: Function) -> None:
    for var in read:
        if var.space is Space.REGISTER and any(u != _NONE and _overlap(var, v) for v, u in uppers.items()):
            raise Unsupported(f"{function.name} at {address:#x} may use the upper part of an address by itself")


def _overlap(one: Var, other: Var) -> bool:
    return one.offset < other.offset + other.size and other.offset < one.offset + one.size
