"""Moves, the stack, flags as values, no-ops and traps."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.flags import CF, CONDITIONS, DF, OF, PF, SF, ZF
from isoform.isa.x86_64.integer import AH, AL, RAX, RBP, RBX, RDX, RSP, Semantics, part, width
from isoform.isa.x86_64.operands import ImmediateOperand, MemoryOperand, NoSemanticsError, Operand, Register
from isoform.model.microop import FALSE, TRUE, Var


def move(b: Builder, target: Operand, source: Operand) -> None:
    b.write(target, b.read(source, width(target, source)))


def move_extended(extend: Callable[[Builder, Var, int], Var]) -> Semantics:
    def semantics(b: Builder, target: Register, source: Operand) -> None:
        value = b.read(source)
        if value.size > width(target):
            raise NoSemanticsError
        b.write(target, extend(b, value, width(target)))

    return semantics


def load_address(b: Builder, target: Register, source: MemoryOperand) -> None:
    b.write(target, b.piece(b.offset_of(source), 0, width(target)))


def exchange(b: Builder, left: Operand, right: Operand) -> None:
    size = width(left, right)
    old_left, old_right = b.hold(b.read(left, size)), b.hold(b.read(right, size))
    b.write(left, old_right)
    b.write(right, old_left)


def swapped(b: Builder, value: Var) -> Var:
    return b.join(*(b.piece(value, at, 1) for at in reversed(range(value.size))))


def swap_bytes(b: Builder, target: Register) -> None:
    size = width(target)
    b.write(target, b.undefined(size) if size == 2 else swapped(b, b.read(target)))


def move_swapped(b: Builder, target: Operand, source: Operand) -> None:
    b.write(target, swapped(b, b.read(source, width(target, source))))


def move_if(condition: str) -> Semantics:
    def semantics(b: Builder, target: Register, source: Operand) -> None:
        size = width(target)
        value = b.read(source, size)
        b.write(target, b.select(CONDITIONS[condition](b), value, b.read(target)))

    return semantics


def set_if(condition: str) -> Semantics:
    def semantics(b: Builder, target: Operand) -> None:
        b.write(target, CONDITIONS[condition](b))

    return semantics


def translate(b: Builder, table: Operand) -> None:
    if table != Register(RBX):
        raise NoSemanticsError
    b.set(AL, b.load(b.add(RBX, b.zext(AL, 8)), 1))


def extend_accumulator(size: int) -> Semantics:
    """`cbw`, `cwde`, `cdqe`: the lower half of the accumulator, sign-extended to the whole."""
    return lambda b: b.write_register(part(RAX, size), b.sext(part(RAX, size // 2), size))


def spread_sign(size: int) -> Semantics:
    """`cwd`, `cdq`, `cqo`: the accumulator's sign in all bits of rdx."""
    return lambda b: b.write_register(part(RDX, size), b.sar(part(RAX, size), 8 * size - 1))


# The stack


def push_value(b: Builder, value: Var) -> None:
    below = b.sub(RSP, value.size)
    b.store(below, value)
    b.set(RSP, below)


def push(b: Builder, source: Operand) -> None:
    size = source.size or 8 if isinstance(source, ImmediateOperand) else width(source)
    push_value(b, b.hold(b.read(source, size)))


def pop(b: Builder, target: Operand) -> None:
    """The stack pointer moves before the target's address is computed, and before a target rsp is written."""
    size = width(target)
    value = b.load(RSP, size)
    b.set(RSP, b.add(RSP, size))
    b.write(target, value)


def leave(b: Builder) -> None:
    frame = b.hold(RBP)
    b.set(RBP, b.load(frame, 8))
    b.set(RSP, b.add(frame, 8))


_NESTING_LEVELS = 32
"""The processor takes the level modulo this."""


def enter(b: Builder, size: ImmediateOperand, level: ImmediateOperand) -> None:
    if level.value % _NESTING_LEVELS:
        raise NoSemanticsError
    below = b.sub(RSP, 8)
    b.store(below, RBP)
    b.set(RBP, below)
    b.set(RSP, b.sub(RBP, size.value & 0xFFFF))


# Flags as values


def _flag_byte(b: Builder) -> Var:
    """The low byte of the flags register: SF ZF 0 AF 0 PF 1 CF."""
    adjust = b.shl(b.undefined_boolean(), 4)
    value = b.or_(b.or_(CF, 2), adjust)
    for flag, at in ((PF, 2), (ZF, 6), (SF, 7)):
        value = b.or_(value, b.shl(flag, at))
    return value


def load_flags(b: Builder) -> None:
    b.set(AH, _flag_byte(b))


def store_flags(b: Builder) -> None:
    for flag, at in ((CF, 0), (PF, 2), (ZF, 6), (SF, 7)):
        b.set(flag, b.bit(AH, at))


_SYSTEM_FLAGS = 0x244000
"""ID, AC and NT: a program may have set them, which is not tracked."""
_INTERRUPTS_ENABLED = 0x200


def push_flags(b: Builder) -> None:
    value = b.or_(b.zext(_flag_byte(b), 8), _INTERRUPTS_ENABLED)
    for flag, at in ((DF, 10), (OF, 11)):
        value = b.or_(value, b.shl(b.zext(flag, 8), at))
    push_value(b, b.or_(value, b.and_(b.undefined(8), _SYSTEM_FLAGS)))


def set_flag(flag: Var, value: Var) -> Semantics:
    return lambda b: b.set(flag, value)


def complement_carry(b: Builder) -> None:
    b.set(CF, b.negate(CF))


def nothing(b: Builder, *operands: Operand) -> None:
    """Hints, and fences: a function runs alone here."""


def abort(reason: str) -> Semantics:
    return lambda b, *operands: b.abort(TRUE, reason)


# fmt: off
TABLE: Mapping[str, Semantics] = {
    "MOV": move, "MOVNTI": move, "MOVZX": move_extended(Builder.zext), "MOVSX": move_extended(Builder.sext),
    "MOVSXD": move_extended(Builder.sext), "LEA": load_address, "XCHG": exchange, "BSWAP": swap_bytes,
    "MOVBE": move_swapped, "XLAT": translate,
    "CBW": extend_accumulator(2), "CWDE": extend_accumulator(4), "CDQE": extend_accumulator(8),
    "CWD": spread_sign(2), "CDQ": spread_sign(4), "CQO": spread_sign(8),
    "PUSH": push, "POP": pop, "LEAVE": leave, "ENTER": enter, "PUSHFQ": push_flags,
    "LAHF": load_flags, "SAHF": store_flags, "CLC": set_flag(CF, FALSE), "STC": set_flag(CF, TRUE),
    "CMC": complement_carry, "CLD": set_flag(DF, FALSE), "STD": set_flag(DF, TRUE),
    "NOP": nothing, "PAUSE": nothing, "ENDBR64": nothing, "LFENCE": nothing, "MFENCE": nothing, "SFENCE": nothing,
    "PREFETCH": nothing, "PREFETCHW": nothing, "PREFETCHWT1": nothing,
    "UD0": abort("undefined instruction"), "UD1": abort("undefined instruction"),
    "UD2": abort("undefined instruction"), "INT3": abort("trap"),
    **{f"CMOV{condition}": move_if(condition) for condition in CONDITIONS},
    **{f"SET{condition}": set_if(condition) for condition in CONDITIONS},
}
# fmt: on
