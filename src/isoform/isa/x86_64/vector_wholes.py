"""Vector instructions on a whole register: tests, and AVX's moves between the two halves."""

from __future__ import annotations

from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.flags import CF, OF, PF, SF, ZF
from isoform.isa.x86_64.lanes import HALF, split
from isoform.isa.x86_64.operands import ImmediateOperand, Operand
from isoform.isa.x86_64.registers import REGISTERS
from isoform.isa.x86_64.shuffles import permute_doubles, shuffle_dwords
from isoform.isa.x86_64.vectors import (
    VectorSemantics,
    binary,
    clear_above,
    control,
    halves_of,
    low,
    read,
    unary_immediate,
    write,
)
from isoform.model.microop import Var, const


def test(size: int | None) -> VectorSemantics:
    """`ptest` on all bits, `vtestps`, `vtestpd` on the top bit of each lane."""

    def kept(b: Builder, value: Var) -> Var:
        if size is None:
            return value
        mask = int.from_bytes((b"\0" * (size - 1) + b"\x80") * (HALF // size), "little")
        return b.and_(value, mask)

    def semantics(b: Builder, vex: bool, left: Operand, right: Operand) -> None:
        count = halves_of(left)
        pairs = list(zip(read(b, left, count), read(b, right, count), strict=True))
        both = _any_bit(b, [kept(b, b.and_(y, x)) for x, y in pairs])
        only_right = _any_bit(b, [kept(b, b.and_(y, b.not_(x))) for x, y in pairs])
        b.set(ZF, b.equal(both, 0))
        b.set(CF, b.equal(only_right, 0))
        for flag in (OF, SF, PF):
            b.set(flag, 0)

    return semantics


def _any_bit(b: Builder, halves: list[Var]) -> Var:
    return halves[0] if len(halves) == 1 else b.or_(*halves)


def minimum_with_position(b: Builder, vex: bool, target: Operand, source: Operand) -> None:
    """`phminposuw`: the first of the smallest of eight words, and its index."""
    words = split(b, b.hold(read(b, source, 1)[0]), 2)
    best, position = words[0], const(0, 2)
    for number, word in enumerate(words[1:], 1):
        smaller = b.below(word, best)
        best = b.select(smaller, word, best)
        position = b.select(smaller, const(number, 2), position)
    write(b, vex, target, [b.zext(b.join(best, position), HALF)])


def broadcast(size: int) -> VectorSemantics:
    def semantics(b: Builder, vex: bool, target: Operand, source: Operand) -> None:
        value = low(b, source, size)
        half = b.join(*[value] * (HALF // size))
        write(b, vex, target, [half] * halves_of(target))

    return semantics


def extract_half(b: Builder, vex: bool, target: Operand, source: Operand, place: Operand) -> None:
    write(b, vex, target, [read(b, source, 2)[control(place) & 1]])


def insert_half(b: Builder, vex: bool, target: Operand, kept: Operand, source: Operand, place: Operand) -> None:
    halves = read(b, kept, 2)
    halves[control(place) & 1] = read(b, source, 1)[0]
    write(b, vex, target, halves)


def permute_halves(b: Builder, vex: bool, target: Operand, first: Operand, second: Operand, place: Operand) -> None:
    sources = [*read(b, first, 2), *read(b, second, 2)]
    steer = control(place)
    fields = (steer & 15, steer >> 4)
    write(b, vex, target, [const(0, HALF) if f & 8 else sources[f & 3] for f in fields])


def permute_quads(b: Builder, vex: bool, target: Operand, source: Operand, place: Operand) -> None:
    quads = [lane for half in read(b, source, 2) for lane in split(b, half, 8)]
    chosen = [quads[control(place) >> (2 * n) & 3] for n in range(4)]
    write(b, vex, target, [b.join(*chosen[:2]), b.join(*chosen[2:])])


def permute_dwords(b: Builder, vex: bool, target: Operand, choosers: Operand, source: Operand) -> None:
    """`vpermd`, `vpermps`: each lane chooses among all eight."""
    table = [lane for half in read(b, source, 2) for lane in split(b, half, 4)]
    chosen = [pick(b, table, lane) for half in read(b, choosers, 2) for lane in split(b, half, 4)]
    write(b, vex, target, [b.join(*chosen[:4]), b.join(*chosen[4:])])


def pick(b: Builder, table: list[Var], index: Var, first_bit: int = 0) -> Var:
    """The entry selected by the low bits of the index, as a tree of selections."""
    if len(table) == 1:
        return table[0]
    half = len(table) // 2
    top = first_bit + half.bit_length() - 1
    return b.select(b.bit(index, top), pick(b, table[half:], index, first_bit), pick(b, table[:half], index, first_bit))


def permute_within(size: int) -> VectorSemantics:
    """`vpermilps`, `vpermilpd`, by an immediate or by the lanes of a vector (bits 1:0, or bit 1)."""

    def by_lanes(b: Builder, half: Var, choosers: Var) -> Var:
        table = split(b, half, size)
        first_bit = 0 if size == 4 else 1
        return b.join(*(pick(b, table, lane, first_bit) for lane in split(b, choosers, size)))

    def semantics(b: Builder, vex: bool, target: Operand, source: Operand, steer: Operand) -> None:
        if isinstance(steer, ImmediateOperand):
            bits, operator = (0, shuffle_dwords) if size == 4 else (2, permute_doubles)
            unary_immediate(bits, operator)(b, vex, target, source, steer)
        else:
            binary(by_lanes)(b, vex, target, source, steer)

    return semantics


def zero_upper(b: Builder, vex: bool) -> None:
    for number in range(16):
        clear_above(b, REGISTERS[f"xmm{number}"].offset, 1)


def zero_all(b: Builder, vex: bool) -> None:
    for number in range(16):
        b.set(REGISTERS[f"xmm{number}"], 0)
    zero_upper(b, vex)
