"""Weak symbols that may have no definition: their address is then null, and calling one is a fault.

Whether there is a definition is an input like any other, the same for both sides: a bit of `Machine.absent_symbols`.
Micro-ops that name such a symbol are rewritten to select by it, so that nothing after lifting needs to know about weak
symbols.
"""

from __future__ import annotations

from dataclasses import replace

from isoform.lift.function import Call, Exit
from isoform.load.fields import WeakSymbol
from isoform.load.image import Image
from isoform.model.machine import Machine
from isoform.model.microop import (
    CONTROL,
    Instruction,
    Kind,
    MicroOp,
    Space,
    Var,
    abort_reason,
    const,
    linked_address,
    number_of,
)

_FIRST_TEMP = 1 << 22
"""Temporaries of these micro-ops: numbers that no instruction and no tail call uses."""
_BELOW, _ABOVE = 1 << 12, 1 << 20
"""An address in the same instruction counts as derived from its symbol if it is at most this far away."""


def with_weak_addresses(instruction: Instruction, image: Image, machine: Machine) -> Instruction:
    """The instruction in which each address of a weak symbol is null or the address."""
    if not image.weak_fields or machine.absent_symbols is None:
        return instruction
    named = [
        image.weak[image.weak_fields[byte][0]]
        for byte in range(instruction.address, instruction.next_address)
        if byte in image.weak_fields
    ]
    writer = _Writer(image, machine.registers[machine.absent_symbols], named)
    for op in instruction.ops:
        writer.rewrite(op)
    return replace(instruction, ops=tuple(writer.ops)) if writer.changed else instruction


class _Writer:
    def __init__(self, image: Image, absent: Var, named: list[WeakSymbol]) -> None:
        self._image = image
        self._absent = absent
        self._named = named
        self.ops: list[MicroOp] = []
        self.changed = False
        self._temps = 0

    def rewrite(self, op: MicroOp) -> None:
        slot = number_of(op.ins[0]) if op.kind is Kind.LOAD else None
        if slot is not None and slot in self._image.weak_fields and op.out is not None and op.out.size == 8:
            self._from_slot(op.out, slot)
        elif op.kind in CONTROL:
            self.ops.append(op)
        else:
            self.ops.append(MicroOp(op.kind, op.out, tuple(self._chosen(var) for var in op.ins)))

    def _from_slot(self, out: Var, slot: int) -> None:
        name, _ = self._image.weak_fields[slot]
        section = self._image.section_at(slot)
        assert section is not None
        start = slot - section.address
        held = int.from_bytes(section.data[start : start + 8], self._image.byte_order)
        origin = self._image.linked_words.get(slot)
        there = const(held, 8) if origin is None else linked_address(held, origin, 8)
        self._choice(out, self._image.weak[name], there)

    def _chosen(self, var: Var) -> Var:
        number = number_of(var)
        if number is None or var.size not in (4, 8):
            return var
        for symbol in self._named:
            if -_BELOW <= number - symbol.address < _ABOVE:
                return self._choice(self._temp(var.size), symbol, var)
        return var

    def _choice(self, out: Var, symbol: WeakSymbol, address: Var) -> Var:
        condition = absent_flag(symbol, self._absent, self._temp(8), self._temp(1), self.ops)
        null = const((number_of(address) or 0) - symbol.address, out.size)
        self.ops.append(MicroOp(Kind.SELECT, out, (condition, null, address)))
        self.changed = True
        return out

    def _temp(self, size: int) -> Var:
        self._temps += 1
        return Var(Space.TEMP, _FIRST_TEMP + 16 * self._temps, size)


def absent_flag(symbol: WeakSymbol, absent: Var, bits: Var, flag: Var, ops: list[MicroOp]) -> Var:
    """Whether a weak symbol has no definition: computed by `ops` from now on."""
    ops.append(MicroOp(Kind.INT_AND, bits, (absent, const(1 << symbol.bit, 8))))
    ops.append(MicroOp(Kind.INT_NOTEQUAL, flag, (bits, const(0, 8))))
    return flag


def null_guard(exit_: Exit, image: Image, machine: Machine) -> tuple[MicroOp, ...]:
    """What a call of a weak symbol does first: it faults if there is no definition."""
    flag = Var(Space.TEMP, _FIRST_TEMP, 1)
    fault = MicroOp(Kind.ABORT, None, (flag, abort_reason("call of a null address")))
    if machine.absent_symbols is None or not isinstance(exit_, Call) or exit_.callee is None:
        return ()
    if exit_.callee not in image.weak or exit_.present:
        return ()
    ops: list[MicroOp] = []
    absent = machine.registers[machine.absent_symbols]
    absent_flag(image.weak[exit_.callee], absent, Var(Space.TEMP, _FIRST_TEMP + 16, 8), flag, ops)
    return (*ops, fault)
