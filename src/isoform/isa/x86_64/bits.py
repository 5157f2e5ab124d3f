"""Bit scans, bit tests, counts, BMI1, BMI2 and crc32."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.flags import CF, OF, PF, SF, ZF, leave_undefined
from isoform.isa.x86_64.integer import RDX, Semantics, part, width
from isoform.isa.x86_64.operands import ImmediateOperand, MemoryOperand, Operand, Register
from isoform.model.microop import Space, Var, const

_CRC32C = 0x82F63B78
"""The polynomial 0x11EDC6F41 with its bits in reverse."""


def _trailing_zeros(b: Builder, value: Var) -> Var:
    """The number of trailing zeros, which is the width for zero."""
    return b.popcount(b.and_(b.not_(value), b.sub(value, 1)), value.size)


def scan(name: str, position: Callable[[Builder, Var], Var]) -> Semantics:
    """`bsf`, `bsr`. For a source of zero the target keeps its value on every processor, but some clear bits 63:32 of a
    32-bit target."""

    def semantics(b: Builder, target: Register, source: Operand) -> None:
        size = width(target)
        value = b.hold(b.read(source, size))
        zero = b.equal(value, 0)
        b.set(ZF, zero)
        leave_undefined(b, name)
        found = b.select(zero, b.read(target), position(b, value))
        if size == 4:
            upper = b.select(zero, b.undefined(4), 0)
            b.set(Var(Space.REGISTER, target.var.offset, 8), b.join(found, upper))
        else:
            b.write(target, found)

    return semantics


def _highest_one(b: Builder, value: Var) -> Var:
    return b.sub(8 * value.size - 1, b.leading_zeros(value, value.size))


def count(name: str, counted: Callable[[Builder, Var], Var]) -> Semantics:
    """`tzcnt`, `lzcnt`."""

    def semantics(b: Builder, target: Register, source: Operand) -> None:
        value = b.read(source, width(target))
        result = counted(b, value)
        b.set(CF, b.equal(value, 0))
        b.set(ZF, b.equal(result, 0))
        leave_undefined(b, name)
        b.write(target, result)

    return semantics


def population(b: Builder, target: Register, source: Operand) -> None:
    value = b.read(source, width(target))
    result = b.popcount(value, value.size)
    b.set(ZF, b.equal(value, 0))
    for flag in (CF, OF, SF, PF):
        b.set(flag, 0)
    b.write(target, result)


def bit_test(name: str, change: Callable[[Builder, Var, Var], Var] | None) -> Semantics:
    """With a register index, memory is a bit string around the address; otherwise the index is taken modulo the
    width."""

    def semantics(b: Builder, target: Operand, index: Operand) -> None:
        if isinstance(target, MemoryOperand) and isinstance(index, Register):
            _string_bit_test(b, name, target, index, change)
            return
        size = width(target)
        value = b.read(target, size)
        number = b.read(index, size)
        number = (
            const(number.offset % (8 * size), size)
            if isinstance(index, ImmediateOperand)
            else b.and_(number, 8 * size - 1)
        )
        result = _test_bit(b, name, value, number, change)
        if result is not None:
            b.write(target, result)

    return semantics


def _string_bit_test(
    b: Builder, name: str, target: MemoryOperand, index: Register, change: Callable[[Builder, Var, Var], Var] | None
) -> None:
    """The machine accesses a whole word at a multiple of the operand size from the address."""
    size = width(index)
    number = b.sext(b.read(index), 8)
    word = b.sar(number, (8 * size).bit_length() - 1)
    address = b.hold(b.address_from(target, b.mul(word, size)))
    value = b.load(address, size)
    result = _test_bit(b, name, value, b.and_(b.read(index), 8 * size - 1), change)
    if result is not None:
        b.store(address, result)


def _test_bit(
    b: Builder, name: str, value: Var, number: Var, change: Callable[[Builder, Var, Var], Var] | None
) -> Var | None:
    selected = b.and_(b.piece(b.shr(value, number), 0, 1), 1)
    result = change(b, value, b.shl(const(1, value.size), number)) if change else None
    b.set(CF, selected)
    leave_undefined(b, name)
    return result


def _clear(b: Builder, value: Var, mask: Var) -> Var:
    return b.and_(value, b.not_(mask))


def and_not(b: Builder, target: Register, inverted: Operand, source: Operand) -> None:
    size = width(target)
    result = b.and_(b.not_(b.read(inverted, size)), b.read(source, size))
    _finish(b, "ANDN", target, result, carry=const(0, 1))


def _finish(b: Builder, name: str, target: Register, result: Var, carry: Var) -> None:
    b.set(CF, carry)
    b.set(OF, 0)
    b.set(SF, b.is_negative(result))
    b.set(ZF, b.equal(result, 0))
    leave_undefined(b, name)
    b.write(target, result)


def extract_field(b: Builder, target: Register, source: Operand, control: Operand) -> None:
    size = width(target)
    start, length = b.piece(b.read(control, size), 0, 1), b.piece(b.read(control, size), 1, 1)
    shifted = b.shr(b.read(source, size), start)
    result = b.and_(shifted, _ones_below(b, length, size))
    _finish(b, "BEXTR", target, result, carry=const(0, 1))


def _ones_below(b: Builder, length: Var, size: int) -> Var:
    """The lowest `length` bits set, at most all."""
    return b.not_(b.shl(const(-1, size), length))


def lowest_bit(name: str, of: Callable[[Builder, Var], Var], carry_if_zero: bool) -> Semantics:
    """`blsi`, `blsmsk`, `blsr`."""

    def semantics(b: Builder, target: Register, source: Operand) -> None:
        value = b.read(source, width(target))
        carry = b.equal(value, 0) if carry_if_zero else b.differ(value, 0)
        _finish(b, name, target, of(b, value), carry)

    return semantics


def zero_high_bits(b: Builder, target: Register, source: Operand, index: Operand) -> None:
    size = width(target)
    start = b.piece(b.read(index, size), 0, 1)
    result = b.and_(b.read(source, size), _ones_below(b, start, size))
    _finish(b, "BZHI", target, result, carry=b.below(8 * size - 1, start))


def multiply_without_flags(b: Builder, high: Register, low: Register, source: Operand) -> None:
    size = width(high)
    product = b.mul(b.zext(part(RDX, size), 2 * size), b.zext(b.read(source, size), 2 * size))
    b.write(low, b.piece(product, 0, size))
    b.write(high, b.piece(product, size, size))


# Compress and expand by parallel suffix (Hacker's Delight, section 7-4): a fixed number of constant shifts.


def _moves(b: Builder, mask: Var) -> list[Var]:
    """For each power of two, the mask bits that move that far when they are packed at the low end."""
    moves = []
    zeros_below = b.shl(b.not_(mask), 1)
    steps = (8 * mask.size).bit_length() - 1
    for step in range(steps):
        odd = zeros_below
        for distance in range(steps):
            odd = b.xor(odd, b.shl(odd, 1 << distance))
        moving = b.and_(odd, mask)
        moves.append(moving)
        mask = b.or_(b.xor(mask, moving), b.shr(moving, 1 << step))
        zeros_below = b.and_(zeros_below, b.not_(odd))
    return moves


def gather_bits(b: Builder, target: Register, source: Operand, mask: Operand) -> None:
    size = width(target)
    chosen = b.read(mask, size)
    value = b.and_(b.read(source, size), chosen)
    for step, moving in enumerate(_moves(b, chosen)):
        moved = b.and_(value, moving)
        value = b.or_(b.xor(value, moved), b.shr(moved, 1 << step))
    b.write(target, value)


def scatter_bits(b: Builder, target: Register, source: Operand, mask: Operand) -> None:
    size = width(target)
    chosen = b.read(mask, size)
    value = b.read(source, size)
    for step, moving in reversed(list(enumerate(_moves(b, chosen)))):
        value = b.or_(b.and_(value, b.not_(moving)), b.and_(b.shl(value, 1 << step), moving))
    b.write(target, b.and_(value, chosen))


def crc32(b: Builder, target: Register, source: Operand) -> None:
    data = b.read(source)
    crc = b.zext(b.xor(b.zext(part(target.var, 4), 8), b.zext(data, 8)), 8)
    for _ in range(8 * data.size):
        lowest = b.differ(b.and_(crc, 1), 0)
        shifted = b.shr(crc, 1)
        crc = b.select(lowest, b.xor(shifted, _CRC32C), shifted)
    b.set(Var(Space.REGISTER, target.var.offset, 8), b.zext(b.piece(crc, 0, 4), 8))


TABLE: Mapping[str, Semantics] = {
    "BSF": scan("BSF", _trailing_zeros),
    "BSR": scan("BSR", _highest_one),
    "TZCNT": count("TZCNT", _trailing_zeros),
    "LZCNT": count("LZCNT", lambda b, value: b.leading_zeros(value, value.size)),
    "POPCNT": population,
    "BT": bit_test("BT", None),
    "BTS": bit_test("BTS", Builder.or_),
    "BTR": bit_test("BTR", _clear),
    "BTC": bit_test("BTC", Builder.xor),
    "ANDN": and_not,
    "BEXTR": extract_field,
    "BLSI": lowest_bit("BLSI", lambda b, v: b.and_(v, b.negative(v)), carry_if_zero=False),
    "BLSMSK": lowest_bit("BLSMSK", lambda b, v: b.xor(v, b.sub(v, 1)), carry_if_zero=True),
    "BLSR": lowest_bit("BLSR", lambda b, v: b.and_(v, b.sub(v, 1)), carry_if_zero=True),
    "BZHI": zero_high_bits,
    "MULX": multiply_without_flags,
    "PEXT": gather_bits,
    "PDEP": scatter_bits,
    "CRC32": crc32,
}
