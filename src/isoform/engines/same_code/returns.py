"""What a function does with the stack above its own frame, as far as the stack pointer can be followed."""

from __future__ import annotations

from collections.abc import Mapping

from isoform.engines.same_code.walk import Walk
from isoform.model.machine import Machine
from isoform.model.microop import Kind, MicroOp, Space, Var, number_of
from isoform.model.values import dataclass

_WORD = 8
_Places = dict[Var, int]
"""Registers that hold an address in the frame, as distances from the stack pointer at entry."""


@dataclass(frozen=True)
class Frame:
    """What one instruction does in the frame."""

    saved: frozenset[int]
    """Numbers of the micro-ops that save a callee-saved register in the frame."""
    reads_return: bool
    """Whether it reads the return address without returning."""
    reads_above: bool
    """Whether it reads what is above the return address."""


def reads_return_address(machine: Machine, walk: Walk) -> bool:
    """Where that can be seen. (That nothing else reads it is assumed.)"""
    return any(frame is not None and frame.reads_return for frame in _followed(machine, walk))


def frames_of(machine: Machine, walk: Walk) -> list[Frame | None] | None:
    """What each instruction does in the frame; None for all if one reads what is above it."""
    found = _followed(machine, walk)
    if any(frame is not None and (frame.reads_return or frame.reads_above) for frame in found):
        return None
    return found


def _followed(machine: Machine, walk: Walk) -> list[Frame | None]:
    """Each instruction with what is known on the first path that leads to it; None for those that are not reached."""
    name = machine.convention.stack_pointer
    frames: list[Frame | None] = [None] * len(walk.ops)
    if name is None or not walk.ops:
        return frames
    follower = _Follower(machine, machine.registers[name])
    seen: dict[int, _Places] = {0: {machine.registers[name]: 0}}
    pending = [0]
    while pending:
        index = pending.pop()
        frames[index], after = follower.step(walk.ops[index], dict(seen[index]))
        for later in walk.steps[index].followers:
            if later not in seen and later < len(walk.ops):
                seen[later] = after
                pending.append(later)
    return frames


class _Follower:
    def __init__(self, machine: Machine, pointer: Var) -> None:
        convention = machine.convention
        self._pointer = pointer
        self._scratch = [machine.registers[name] for name in convention.scratch_after_call]
        self._saved = {machine.registers[name] for name in convention.callee_saved if name in machine.registers}

    def step(self, ops: tuple[MicroOp, ...], known: _Places) -> tuple[Frame, _Places]:
        returns = any(op.kind is Kind.RETURN for op in ops)
        saved: set[int] = set()
        reads_return = reads_above = False
        copies: dict[Var, int] = {}
        for number, op in enumerate(ops):
            place = known.get(op.ins[0]) if op.kind in (Kind.LOAD, Kind.STORE) else None
            if op.kind is Kind.LOAD and op.out is not None and place is not None and not returns:
                reads_return |= place < _WORD and place + op.out.size > 0
                reads_above |= place + op.out.size > _WORD
            if op.kind is Kind.STORE and place is not None and place < 0:
                if op.ins[1] in copies:
                    saved |= {number, copies[op.ins[1]]}
                elif op.ins[1] in self._saved:
                    saved.add(number)
            if op.kind is Kind.COPY and op.out is not None and op.ins[0] in self._saved and op.out.space is Space.TEMP:
                copies[op.out] = number
            _write(op, known)
        known = {var: place for var, place in known.items() if var.space is Space.REGISTER}
        if any(op.kind in (Kind.CALL, Kind.CALLIND) for op in ops):
            known = {v: place for v, place in known.items() if not any(overlap(v, one) for one in self._scratch)}
            if self._pointer in known:
                known[self._pointer] += _WORD
        return Frame(frozenset(saved), reads_return, reads_above), known


def _write(op: MicroOp, known: _Places) -> None:
    if op.out is None:
        return
    value = _value(op, known)
    for var in [v for v in known if overlap(v, op.out)]:
        del known[var]
    if value is not None:
        known[op.out] = value


def _value(op: MicroOp, known: _Places) -> int | None:
    return known.get(op.ins[0]) if op.kind is Kind.COPY else sum_of(op, known)


def sum_of(op: MicroOp, known: Mapping[Var, int]) -> int | None:
    """Of a known distance and a number."""
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


def overlap(one: Var, other: Var) -> bool:
    return one.space is other.space and one.offset < other.offset + other.size and other.offset < one.offset + one.size
