"""Moves between vectors, general registers and memory; inserts, extracts, masked moves."""

from __future__ import annotations

from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.lanes import HALF, Unary, split
from isoform.isa.x86_64.operands import MemoryOperand, NoSemanticsError, Operand, Register
from isoform.isa.x86_64.registers import REGISTERS
from isoform.isa.x86_64.shuffles import insert_single
from isoform.isa.x86_64.vectors import VectorSemantics, control, halves_of, low, read, sources_of, unary, write
from isoform.model.microop import Var, const

RDI = REGISTERS["rdi"]


def move(b: Builder, vex: bool, target: Operand, source: Operand) -> None:
    count = halves_of(source if isinstance(target, MemoryOperand) else target)
    write(b, vex, target, read(b, source, count))


def move_low(size: int) -> VectorSemantics:
    """`movd`, `movq`: between a vector and a general register, memory or another vector, zeros above."""

    def semantics(b: Builder, vex: bool, target: Operand, source: Operand) -> None:
        if isinstance(target, Register) and target.is_vector:
            value = b.read(source, size)
            write(b, vex, target, [b.zext(value, HALF)])
        else:
            b.write(target, low(b, source, size))

    return semantics


def move_scalar(size: int) -> VectorSemantics:
    """`movss`, `movsd`: between registers the rest comes from the first source; from memory it is zero."""

    def semantics(b: Builder, vex: bool, target: Operand, *rest: Operand) -> None:
        if isinstance(target, MemoryOperand):
            b.write(target, low(b, rest[0], size))
        elif isinstance(rest[-1], MemoryOperand):
            write(b, vex, target, [b.zext(b.read(rest[-1], size), HALF)])
        else:
            kept, source = sources_of(vex, target, rest)
            upper = b.piece(read(b, kept, 1)[0], size, HALF - size)
            write(b, vex, target, [b.join(low(b, source, size), upper)])

    return semantics


def move_half(at: int) -> VectorSemantics:
    """`movlps`, `movhps` and their doubles: eight bytes of memory to or from one half of a vector."""

    def semantics(b: Builder, vex: bool, target: Operand, *rest: Operand) -> None:
        if isinstance(target, MemoryOperand):
            b.write(target, b.piece(read(b, rest[0], 1)[0], at, 8))
            return
        kept, source = sources_of(vex, target, rest)
        other = b.piece(read(b, kept, 1)[0], 8 - at, 8)
        value = low(b, source, 8)
        write(b, vex, target, [b.join(value, other) if at == 0 else b.join(other, value)])

    return semantics


def move_high_to_low(b: Builder, vex: bool, target: Operand, *rest: Operand) -> None:
    first, second = (read(b, operand, 1)[0] for operand in sources_of(vex, target, rest))
    write(b, vex, target, [b.join(b.piece(second, 8, 8), b.piece(first, 8, 8))])


def move_low_to_high(b: Builder, vex: bool, target: Operand, *rest: Operand) -> None:
    first, second = (read(b, operand, 1)[0] for operand in sources_of(vex, target, rest))
    write(b, vex, target, [b.join(b.piece(first, 0, 8), b.piece(second, 0, 8))])


def duplicate(order: tuple[int, ...]) -> Unary:
    return lambda b, half: b.join(*(b.piece(half, 4 * n, 4) for n in order))


def duplicate_double(b: Builder, vex: bool, target: Operand, source: Operand) -> None:
    """`movddup`: the 128-bit form reads eight bytes only."""
    if halves_of(target) == 1:
        value = low(b, source, 8)
        write(b, vex, target, [b.join(value, value)])
    else:
        unary(duplicate((0, 1, 0, 1)))(b, vex, target, source)


def insert(size: int) -> VectorSemantics:
    def semantics(b: Builder, vex: bool, target: Operand, *rest: Operand) -> None:
        kept, source, place = sources_of(vex, target, rest)
        parts = split(b, read(b, kept, 1)[0], size)
        value = b.read(source, size)
        parts[control(place) % len(parts)] = value
        write(b, vex, target, [b.join(*parts)])

    return semantics


def insert_ps(b: Builder, vex: bool, target: Operand, *rest: Operand) -> None:
    kept, source, place = sources_of(vex, target, rest)
    steer = control(place)
    left = read(b, kept, 1)[0]
    if isinstance(source, MemoryOperand):
        right = b.zext(b.read(source, 4), HALF)
        steer &= 0x3F
    else:
        right = read(b, source, 1)[0]
    write(b, vex, target, [insert_single(b, left, right, steer)])


def extract(size: int) -> VectorSemantics:
    """To memory exactly that many bytes, to a general register with zeros above."""

    def semantics(b: Builder, vex: bool, target: Operand, source: Operand, place: Operand) -> None:
        number = control(place) % (HALF // size)
        value = b.piece(read(b, source, 1)[0], size * number, size)
        if isinstance(target, Register):
            b.write(target, b.zext(value, target.var.size))
        else:
            b.write(target, value)

    return semantics


def top_bits(size: int) -> VectorSemantics:
    """`pmovmskb`, `movmskps`, `movmskpd`."""

    def semantics(b: Builder, vex: bool, target: Operand, source: Operand) -> None:
        if not isinstance(target, Register) or target.is_vector:
            raise NoSemanticsError
        signs = [b.is_negative(lane) for half in read(b, source, halves_of(source)) for lane in split(b, half, size)]
        total: Var | None = None
        for number, sign in enumerate(signs):
            wide = b.zext(sign, 4)
            placed = b.shl(wide, number) if number else wide
            total = placed if total is None else b.or_(total, placed)
        assert total is not None
        b.write(target, b.zext(total, target.var.size))

    return semantics


# Masked memory


def masked_bytes(b: Builder, vex: bool, source: Operand, mask: Operand) -> None:
    """`maskmovdqu`: a byte that is not selected is stored unchanged."""
    pairs = zip(split(b, read(b, source, 1)[0], 1), split(b, read(b, mask, 1)[0], 1), strict=True)
    for number, (value, chooser) in enumerate(pairs):
        address = b.add(RDI, number) if number else RDI
        b.store(address, b.select(b.is_negative(chooser), value, b.load(address, 1)))


def masked_move(size: int) -> VectorSemantics:
    """`vpmaskmov`, `vmaskmov`: lanes that are not selected load as zero, and are stored unchanged."""

    def semantics(b: Builder, vex: bool, target: Operand, mask: Operand, source: Operand) -> None:
        count = halves_of(mask)
        masks = read(b, mask, count)
        values, storing = read(b, source, count), isinstance(target, MemoryOperand)
        others = read(b, target, count) if storing else [const(0, HALF)] * count
        result = []
        for value, chooser, other in zip(values, masks, others, strict=True):
            triples = zip(*(split(b, half, size) for half in (value, chooser, other)), strict=True)
            result.append(b.join(*(b.select(b.is_negative(m), v, o) for v, m, o in triples)))
        write(b, vex, target, result)

    return semantics
