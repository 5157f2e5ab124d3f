"""Jumps, calls and returns."""

from __future__ import annotations

from collections.abc import Mapping

from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.flags import CONDITIONS, ZF
from isoform.isa.x86_64.integer import RCX, RSP, Semantics, part
from isoform.isa.x86_64.moves import push_value
from isoform.isa.x86_64.operands import ImmediateOperand, NoSemanticsError, Operand
from isoform.model.microop import Kind, code, const

_ADDRESS_MASK = (1 << 64) - 1
_NOTHING = ImmediateOperand(0)
_MOST_POPPED = 0x7FFF
"""Above this value, CPU models disagree on whether the number is signed."""


def jump(b: Builder, target: Operand) -> None:
    if isinstance(target, ImmediateOperand):
        b.branch(target.value & _ADDRESS_MASK)
    else:
        b.leave_to(Kind.BRANCHIND, b.read(target, 8))


def jump_if(condition: str) -> Semantics:
    return lambda b, target: b.branch_if(CONDITIONS[condition](b), target.value & _ADDRESS_MASK)


def call(b: Builder, target: Operand) -> None:
    """Position-independent code reads its own address by a call to the next instruction: a push, not a call."""
    if isinstance(target, ImmediateOperand):
        address = target.value & _ADDRESS_MASK
        push_value(b, const(b.next_address, 8))
        if address == b.next_address:
            b.branch(address)
        else:
            b.leave_to(Kind.CALL, code(address))
    else:
        callee = b.hold(b.read(target, 8))
        push_value(b, const(b.next_address, 8))
        b.leave_to(Kind.CALLIND, callee)


def return_(b: Builder, popped: ImmediateOperand = _NOTHING) -> None:
    if not 0 <= popped.value <= _MOST_POPPED:
        raise NoSemanticsError
    target = b.load(RSP, 8)
    b.set(RSP, b.add(RSP, 8 + popped.value))
    b.leave_to(Kind.RETURN, target)


def jump_if_count_zero(size: int) -> Semantics:
    return lambda b, target: b.branch_if(b.equal(part(RCX, size), 0), target.value & _ADDRESS_MASK)


def loop(while_zero: bool | None) -> Semantics:
    def semantics(b: Builder, target: ImmediateOperand) -> None:
        b.set(RCX, b.sub(RCX, 1))
        again = b.differ(RCX, 0)
        if while_zero is not None:
            again = b.both(again, ZF if while_zero else b.negate(ZF))
        b.branch_if(again, target.value & _ADDRESS_MASK)

    return semantics


def system_call(b: Builder) -> None:
    b.ask_system()


TABLE: Mapping[str, Semantics] = {
    "JMP": jump,
    "CALL": call,
    "RET": return_,
    "SYSCALL": system_call,
    "JRCXZ": jump_if_count_zero(8),
    "JECXZ": jump_if_count_zero(4),
    "LOOP": loop(None),
    "LOOPZ": loop(True),
    "LOOPNZ": loop(False),
    **{f"J{condition}": jump_if(condition) for condition in CONDITIONS},
}
