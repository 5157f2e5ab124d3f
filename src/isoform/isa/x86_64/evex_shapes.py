"""What EVEX instructions do that no VEX instruction does, lane by lane; the others share the shapes of `vectors.py`.

Semantics take the builder, which knows the mask, a flag that is always true (VEX and EVEX both clear the bits above
their result), and the operands.
"""

from __future__ import annotations

from collections.abc import Callable

from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.lanes import HALF, Binary, all_if, split
from isoform.isa.x86_64.operands import ImmediateOperand, MemoryOperand, NoSemanticsError, Operand, Register
from isoform.isa.x86_64.vector_wholes import pick
from isoform.isa.x86_64.vectors import (
    VectorSemantics,
    control,
    halves_from,
    halves_of,
    lanes_of,
    low,
    masked_lanes,
    read,
    write,
    write_all,
)
from isoform.model.microop import Var, const

_BITS_OF_PRODUCT = 52
_MASK_SIZE = 8
Predicate = Callable[[Builder, Var, Var], Var]
"""Two lanes to a boolean."""


# One lane


def rotate_left(b: Builder, x: Var, count: Var) -> Var:
    bits = 8 * x.size
    masked = b.and_(count, bits - 1)
    return b.or_(b.shl(x, masked), b.shr(x, b.sub(const(bits, masked.size), masked)))


def rotate_right(b: Builder, x: Var, count: Var) -> Var:
    return rotate_left(b, x, b.negative(count))


def population(b: Builder, x: Var) -> Var:
    return b.popcount(x, x.size)


def leading_zeros(b: Builder, x: Var) -> Var:
    return b.leading_zeros(x, x.size)


def _multiplied(b: Builder, upper: bool, total: Var, x: Var, y: Var) -> Var:
    """`vpmadd52`: 52 bits of a product of 52-bit numbers, added to 64."""
    whole = (1 << _BITS_OF_PRODUCT) - 1
    product = b.mul(b.zext(b.and_(x, whole), HALF), b.zext(b.and_(y, whole), HALF))
    wanted = b.shr(product, _BITS_OF_PRODUCT) if upper else b.and_(product, whole)
    return b.add(total, b.piece(wanted, 0, 8))


def multiply_add(upper: bool) -> VectorSemantics:
    def semantics(b: Builder, vex: bool, target: Operand, first: Operand, second: Operand) -> None:
        count = halves_of(target)
        vectors = (lanes_of(b, read(b, operand, count), 8) for operand in (target, first, second))
        result = [_multiplied(b, upper, *lanes) for lanes in zip(*vectors, strict=True)]
        write(b, vex, target, halves_from(b, result))

    return semantics


def rotate(size: int, operator: Binary) -> VectorSemantics:
    """By an immediate; the forms that rotate by the lanes of a vector are ordinary binary operations."""

    def semantics(b: Builder, vex: bool, target: Operand, source: Operand, count: Operand) -> None:
        amount = const(control(count), size)
        lanes = lanes_of(b, read(b, source, halves_of(target)), size)
        write(b, vex, target, halves_from(b, [operator(b, lane, amount) for lane in lanes]))

    return semantics


# Any function of three bits


def ternary_logic(b: Builder, vex: bool, target: Operand, first: Operand, second: Operand, table: Operand) -> None:
    """`vpternlog`: bit 4x + 2y + z of the immediate is the result for bits x, y, z of the three operands."""
    count = halves_of(target)
    vectors = [read(b, operand, count) for operand in (target, first, second)]
    write(b, vex, target, [_by_table(b, list(halves), control(table)) for halves in zip(*vectors, strict=True)])


def _by_table(b: Builder, inputs: list[Var], table: int) -> Var:
    """Split by the first input: the upper half of the table is for a bit that is set."""
    if not inputs:
        return const(-table, HALF)
    first, rest = inputs[0], inputs[1:]
    rows = 1 << len(rest)
    ones = (1 << rows) - 1
    clear, is_set = table & ones, table >> rows
    if clear == is_set:
        return _by_table(b, rest, clear)
    if clear ^ is_set == ones:
        return b.xor(first, _by_table(b, rest, clear)) if clear else first
    if clear == 0:
        return b.and_(first, _by_table(b, rest, is_set))
    if is_set == ones:
        return b.or_(first, _by_table(b, rest, clear))
    inverted = b.not_(first)
    if is_set == 0:
        return b.and_(inverted, _by_table(b, rest, clear))
    if clear == ones:
        return b.or_(inverted, _by_table(b, rest, is_set))
    return b.or_(b.and_(first, _by_table(b, rest, is_set)), b.and_(inverted, _by_table(b, rest, clear)))


# To and from masks


def _write_mask(b: Builder, target: Operand, bits: list[Var]) -> None:
    """Bits above the last lane, and those whose bit in the mask is clear, become 0."""
    if not isinstance(target, Register) or target.is_vector:
        raise NoSemanticsError
    value = b.zext(b.join(*(_byte_of(b, bits[n : n + 8]) for n in range(0, len(bits), 8))), _MASK_SIZE)
    b.set(target.var, b.and_(value, b.masking.register) if b.masking is not None else value)


def _byte_of(b: Builder, bits: list[Var]) -> Var:
    total = bits[0]
    for number, bit in enumerate(bits[1:], 1):
        total = b.or_(total, b.shl(bit, number))
    return total


def compare(size: int, predicate: Predicate) -> VectorSemantics:
    def semantics(b: Builder, vex: bool, target: Operand, first: Operand, second: Operand) -> None:
        count = halves_of(first)
        left, right = (lanes_of(b, read(b, operand, count), size) for operand in (first, second))
        _write_mask(b, target, [predicate(b, x, y) for x, y in zip(left, right, strict=True)])

    return semantics


def compare_by_immediate(size: int, signed: bool) -> VectorSemantics:
    below: Predicate = Builder.less if signed else Builder.below
    predicates: tuple[Predicate, ...] = (
        Builder.equal,
        below,
        lambda b, x, y: b.negate(below(b, y, x)),
        lambda b, x, y: b.boolean(False),
        Builder.differ,
        lambda b, x, y: b.negate(below(b, x, y)),
        lambda b, x, y: below(b, y, x),
        lambda b, x, y: b.boolean(True),
    )

    def semantics(b: Builder, vex: bool, target: Operand, first: Operand, second: Operand, number: Operand) -> None:
        if control(number) >= len(predicates):
            raise NoSemanticsError
        compare(size, predicates[control(number)])(b, vex, target, first, second)

    return semantics


def greater(b: Builder, x: Var, y: Var) -> Var:
    return b.less(y, x)


def have_common_bits(b: Builder, x: Var, y: Var) -> Var:
    return b.differ(b.and_(x, y), 0)


def have_no_common_bits(b: Builder, x: Var, y: Var) -> Var:
    return b.equal(b.and_(x, y), 0)


def signs_to_mask(size: int) -> VectorSemantics:
    def semantics(b: Builder, vex: bool, target: Operand, source: Operand) -> None:
        lanes = lanes_of(b, read(b, source, halves_of(source)), size)
        _write_mask(b, target, [b.is_negative(lane) for lane in lanes])

    return semantics


def mask_to_lanes(size: int) -> VectorSemantics:
    def semantics(b: Builder, vex: bool, target: Operand, source: Operand) -> None:
        bits = _mask_register(source)
        count = halves_of(target) * HALF // size
        write(b, vex, target, halves_from(b, [all_if(b, b.bit(bits, n), size) for n in range(count)]))

    return semantics


def mask_repeated(taken: int, size: int) -> VectorSemantics:
    """`vpbroadcastmb2q`, `vpbroadcastmw2d`: the mask as a number in every lane."""

    def semantics(b: Builder, vex: bool, target: Operand, source: Operand) -> None:
        value = b.zext(b.piece(_mask_register(source), 0, taken), size)
        write(b, vex, target, [b.join(*[value] * (HALF // size))] * halves_of(target))

    return semantics


def _mask_register(source: Operand) -> Var:
    if not isinstance(source, Register) or source.var.size != _MASK_SIZE:
        raise NoSemanticsError
    return source.var


def blend(b: Builder, vex: bool, target: Operand, first: Operand, second: Operand) -> None:
    """`vpblendm`: the second source where the mask is set, else the first; without a mask all of the second."""
    count = halves_of(target)
    halves = read(b, second, count)
    if b.masking is not None:
        size = b.masking.lane
        lanes, others = lanes_of(b, halves, size), lanes_of(b, read(b, first, count), size)
        halves = halves_from(b, masked_lanes(b, b.masking, lanes, others))
    write_all(b, vex, target, halves)


# Moves and permutations


def broadcast(size: int) -> VectorSemantics:
    """From memory, the low end of a vector, or a general register."""

    def semantics(b: Builder, vex: bool, target: Operand, source: Operand) -> None:
        count = halves_of(target)
        if size > HALF:
            write(b, vex, target, read(b, source, size // HALF) * (count * HALF // size))
        else:
            value = b.read(source, size)
            write(b, vex, target, [b.join(*[value] * (HALF // size))] * count)

    return semantics


def truncate(size: int, small: int) -> VectorSemantics:
    """`vpmovwb` and its like: the low part of every lane, zeros above them all."""

    def semantics(b: Builder, vex: bool, target: Operand, source: Operand) -> None:
        lanes = [b.piece(lane, 0, small) for lane in lanes_of(b, read(b, source, halves_of(source)), size)]
        if b.masking is not None:
            kept = [] if b.masking.zeroing else split(b, low(b, target, small * len(lanes)), small)
            lanes = masked_lanes(b, b.masking, lanes, kept)
        value = b.join(*lanes)
        if isinstance(target, MemoryOperand):
            b.write(target, value)
        else:
            whole = b.zext(value, max(HALF, value.size))
            write_all(b, vex, target, [b.piece(whole, at, HALF) for at in range(0, whole.size, HALF)])

    return semantics


def align(size: int) -> VectorSemantics:
    """`valignd`, `valignq`: lanes of both sources concatenated, the first above the second."""

    def semantics(b: Builder, vex: bool, target: Operand, first: Operand, second: Operand, place: Operand) -> None:
        count = halves_of(target)
        lanes = [lane for operand in (second, first) for lane in lanes_of(b, read(b, operand, count), size)]
        width = len(lanes) // 2
        start = control(place) % width
        write(b, vex, target, halves_from(b, lanes[start : start + width]))

    return semantics


def permute(size: int) -> VectorSemantics:
    """Any lane of one source: chosen by the lanes of another, or by an immediate within 32 bytes."""

    def semantics(b: Builder, vex: bool, target: Operand, first: Operand, second: Operand) -> None:
        count = halves_of(target)
        if isinstance(second, ImmediateOperand):
            lanes = lanes_of(b, read(b, first, count), size)
            chosen = [lanes[n - n % 4 + (control(second) >> 2 * (n % 4) & 3)] for n in range(len(lanes))]
        else:
            table = lanes_of(b, read(b, second, count), size)
            chosen = [pick(b, table, index) for index in lanes_of(b, read(b, first, count), size)]
        write(b, vex, target, halves_from(b, chosen))

    return semantics


def permute_two(size: int, target_is_index: bool) -> VectorSemantics:
    """`vpermi2`, `vpermt2`: lanes of two tables, the second being the upper; the target is the index or the first."""

    def semantics(b: Builder, vex: bool, target: Operand, first: Operand, second: Operand) -> None:
        count = halves_of(target)
        indexes, lower = (target, first) if target_is_index else (first, target)
        table = [lane for operand in (lower, second) for lane in lanes_of(b, read(b, operand, count), size)]
        chosen = [pick(b, table, index) for index in lanes_of(b, read(b, indexes, count), size)]
        write(b, vex, target, halves_from(b, chosen))

    return semantics


def shuffle_halves(b: Builder, vex: bool, target: Operand, first: Operand, second: Operand, place: Operand) -> None:
    """`vshufi32x4` and its like: the lower part of the result from the first source, the upper from the second."""
    count = halves_of(target)
    sources = [read(b, operand, count) for operand in (first, second)]
    bits = count.bit_length() - 1
    chosen = [sources[2 * n // count][control(place) >> bits * n & count - 1] for n in range(count)]
    write(b, vex, target, chosen)


def extract(size: int) -> VectorSemantics:
    def semantics(b: Builder, vex: bool, target: Operand, source: Operand, place: Operand) -> None:
        halves, taken = read(b, source, halves_of(source)), size // HALF
        start = taken * (control(place) % (len(halves) // taken))
        write(b, vex, target, halves[start : start + taken])

    return semantics


def insert(size: int) -> VectorSemantics:
    def semantics(b: Builder, vex: bool, target: Operand, kept: Operand, source: Operand, place: Operand) -> None:
        halves, taken = read(b, kept, halves_of(target)), size // HALF
        start = taken * (control(place) % (len(halves) // taken))
        write(b, vex, target, [*halves[:start], *read(b, source, taken), *halves[start + taken :]])

    return semantics
