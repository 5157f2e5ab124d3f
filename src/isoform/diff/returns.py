"""Whether a function reads the address that it returns to, other than by returning."""

from __future__ import annotations

from isoform.diff.walk import Walk
from isoform.model.machine import Machine
from isoform.model.microop import Kind, MicroOp, Space, Var, number_of

_WORD = 8
_Places = dict[Var, int]
"""Registers that hold an address in the frame, as distances from the stack pointer at entry."""


def reads_return_address(machine: Machine, walk: Walk) -> bool:
    """Where the stack pointer, and copies of it, can be followed. (That nothing else reads it is assumed.)"""
    name = machine.convention.stack_pointer
    if name is None or not walk.steps:
        return False
    pointer = machine.registers[name]
    scratch = {machine.registers[register] for register in machine.convention.scratch_after_call}
    seen: dict[int, _Places] = {0: {pointer: 0}}
    pending = [0]
    while pending:
        index = pending.pop()
        after = _after(walk.ops[index], dict(seen[index]), pointer, scratch)
        if after is None:
            return True
        for follower in walk.steps[index].followers:
            if follower not in seen and follower < len(walk.ops):
                seen[follower] = after
                pending.append(follower)
    return False


def _after(ops: tuple[MicroOp, ...], known: _Places, pointer: Var, scratch: set[Var]) -> _Places | None:
    """What is known after an instruction; None if it reads the return address."""
    returns = any(op.kind is Kind.RETURN for op in ops)
    calls = any(op.kind in (Kind.CALL, Kind.CALLIND) for op in ops)
    for op in ops:
        if op.kind is Kind.LOAD and op.out is not None and not returns:
            place = known.get(op.ins[0])
            if place is not None and place < _WORD and place + op.out.size > 0:
                return None
        if op.out is not None:
            value = _value(op, known)
            for var in [v for v in known if _overlap(v, op.out)]:
                del known[var]
            if value is not None:
                known[op.out] = value
    known = {var: place for var, place in known.items() if var.space is Space.REGISTER}
    if calls:
        known = {var: place for var, place in known.items() if not any(_overlap(var, one) for one in scratch)}
        if pointer in known:
            known[pointer] += _WORD
    return known


def _value(op: MicroOp, known: _Places) -> int | None:
    if op.kind is Kind.COPY:
        return known.get(op.ins[0])
    if op.kind not in (Kind.INT_ADD, Kind.INT_SUB):
        return None
    left, right = op.ins
    base, amount = known.get(left), number_of(right)
    if base is None and op.kind is Kind.INT_ADD:
        base, amount = known.get(right), number_of(left)
    if base is None or amount is None:
        return None
    signed = amount - (1 << 64) if amount >> 63 else amount
    return base + signed if op.kind is Kind.INT_ADD else base - signed


def _overlap(one: Var, other: Var) -> bool:
    return one.space is other.space and one.offset < other.offset + other.size and other.offset < one.offset + one.size
