"""Vector instructions of x86-64 as a whole: operands, encodings, and the shapes they come in.

Legacy encodings keep the bits above 127 of their target; VEX and EVEX encodings clear the bits above their result. EVEX
adds a mask, which is applied when a result is written, and memory operands that repeat one element.
"""

from __future__ import annotations

from collections.abc import Callable

from isoform.isa.x86_64.builder import Builder, Masking
from isoform.isa.x86_64.lanes import HALF, Binary, Unary, split
from isoform.isa.x86_64.operands import ImmediateOperand, MemoryOperand, NoSemanticsError, Operand, Register
from isoform.isa.x86_64.registers import REGISTERS
from isoform.isa.x86_64.shuffles import BinaryImmediate, UnaryImmediate
from isoform.model.microop import Space, Var, const

VectorSemantics = Callable[..., None]
"""Takes the builder, whether the encoding is VEX, and the operands."""

XMM0 = REGISTERS["xmm0"]
WHOLE_CONTAINERS = REGISTERS["zmm16"].offset
"""From here on a vector register is one container."""


# Operands


def halves_of(target: Operand) -> int:
    if not isinstance(target, Register) or not target.is_vector:
        raise NoSemanticsError
    return target.var.size // HALF


def read(b: Builder, source: Operand, count: int) -> list[Var]:
    """The first `count` halves of an operand."""
    if isinstance(source, Register) and source.is_vector:
        return [Var(Space.REGISTER, source.var.offset + HALF * n, HALF) for n in range(count)]
    if isinstance(source, MemoryOperand) and source.repeated:
        element = b.load(b.address_of_part(source, 0, source.repeated), source.repeated)
        return [b.join(*[element] * (HALF // source.repeated))] * count
    if isinstance(source, MemoryOperand):
        return [b.load(b.address_of_part(source, HALF * n, HALF), HALF) for n in range(count)]
    raise NoSemanticsError


def low(b: Builder, source: Operand, size: int) -> Var:
    """The low bytes of a vector register, or that many bytes of memory."""
    if isinstance(source, Register) and not source.is_vector:
        raise NoSemanticsError
    return b.read(source, size)


def write(b: Builder, vex: bool, target: Operand, halves: list[Var]) -> None:
    if b.masking is not None:
        halves = _masked(b, b.masking, halves, target)
    write_all(b, vex, target, halves)


def write_all(b: Builder, vex: bool, target: Operand, halves: list[Var]) -> None:
    """Ignores a mask."""
    if isinstance(target, MemoryOperand):
        for number, half in enumerate(halves):
            b.store(b.address_of_part(target, HALF * number, HALF), half)
        return
    if not isinstance(target, Register) or not target.is_vector:
        raise NoSemanticsError
    # A half may be needed for the other one: nothing is written before all are computed.
    held = [b.hold(half) if half.space is Space.REGISTER else half for half in halves] if len(halves) > 1 else halves
    if target.var.offset >= WHOLE_CONTAINERS:
        b.set(Var(Space.REGISTER, target.var.offset, 4 * HALF), b.zext(b.join(*held), 4 * HALF))
        return
    for number, half in enumerate(held[:2]):
        b.set(Var(Space.REGISTER, target.var.offset + HALF * number, HALF), half)
    if len(held) > 2:
        b.set(Var(Space.REGISTER, target.var.offset + 2 * HALF, 2 * HALF), b.join(*held[2:]))
    if vex:
        clear_above(b, target.var.offset, len(halves))


def _masked(b: Builder, masking: Masking, halves: list[Var], target: Operand) -> list[Var]:
    """Lanes whose bit is clear become 0 or keep the target's value."""
    lanes = lanes_of(b, halves, masking.lane)
    others = [] if masking.zeroing else lanes_of(b, read(b, target, len(halves)), masking.lane)
    return halves_from(b, masked_lanes(b, masking, lanes, others))


def masked_lanes(b: Builder, masking: Masking, lanes: list[Var], others: list[Var]) -> list[Var]:
    """`others` are the values kept where a bit is clear; they are not used if such lanes become 0."""
    if masking.zeroing:
        others = [const(0, masking.lane)] * len(lanes)
    pairs = enumerate(zip(lanes, others, strict=True))
    return [b.select(b.bit(masking.register, number), lane, other) for number, (lane, other) in pairs]


def lanes_of(b: Builder, halves: list[Var], size: int) -> list[Var]:
    return [lane for half in halves for lane in split(b, half, size)]


def halves_from(b: Builder, lanes: list[Var]) -> list[Var]:
    per_half = HALF // lanes[0].size
    return [b.join(*lanes[n : n + per_half]) for n in range(0, len(lanes), per_half)]


def clear_above(b: Builder, offset: int, count: int) -> None:
    if count < 2:
        b.set(Var(Space.REGISTER, offset + HALF, HALF), 0)
    if count < 4:
        b.set(Var(Space.REGISTER, offset + 2 * HALF, 2 * HALF), 0)


def sources_of(vex: bool, target: Operand, sources: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """The legacy encoding's first source is its target."""
    return sources if vex else (target, *sources)


def control(operand: Operand) -> int:
    if not isinstance(operand, ImmediateOperand):
        raise NoSemanticsError
    return operand.value & 0xFF


# Shapes of instructions


def binary(operator: Binary) -> VectorSemantics:
    def semantics(b: Builder, vex: bool, target: Operand, *sources: Operand) -> None:
        first, second = sources_of(vex, target, sources)
        count = halves_of(target)
        pairs = zip(read(b, first, count), read(b, second, count), strict=True)
        write(b, vex, target, [operator(b, x, y) for x, y in pairs])

    return semantics


def unary(operator: Unary) -> VectorSemantics:
    def semantics(b: Builder, vex: bool, target: Operand, source: Operand) -> None:
        write(b, vex, target, [operator(b, x) for x in read(b, source, halves_of(target))])

    return semantics


def unary_immediate(bits: int, operator: UnaryImmediate) -> VectorSemantics:
    def semantics(b: Builder, vex: bool, target: Operand, source: Operand, immediate: Operand) -> None:
        halves = read(b, source, halves_of(target))
        steer = control(immediate)
        write(b, vex, target, [operator(b, x, steer >> bits * n) for n, x in enumerate(halves)])

    return semantics


def binary_immediate(bits: int, operator: BinaryImmediate) -> VectorSemantics:
    def semantics(b: Builder, vex: bool, target: Operand, *rest: Operand) -> None:
        first, second = sources_of(vex, target, rest[:-1])
        count, steer = halves_of(target), control(rest[-1])
        pairs = zip(read(b, first, count), read(b, second, count), strict=True)
        write(b, vex, target, [operator(b, x, y, steer >> bits * n) for n, (x, y) in enumerate(pairs)])

    return semantics


def shifted_bytes(operator: UnaryImmediate) -> VectorSemantics:
    def semantics(b: Builder, vex: bool, target: Operand, *rest: Operand) -> None:
        source, immediate = sources_of(vex, target, rest)
        halves = read(b, source, halves_of(target))
        write(b, vex, target, [operator(b, x, control(immediate)) for x in halves])

    return semantics


def shift(size: int, operator: Callable[[Builder, Var, Var], Var]) -> VectorSemantics:
    """All lanes by one count: an immediate, or all of the low 64 bits of a vector."""

    def semantics(b: Builder, vex: bool, target: Operand, *rest: Operand) -> None:
        source, amount = sources_of(vex, target, rest)
        if isinstance(amount, ImmediateOperand):
            count = const(control(amount), 8)
        else:
            count = b.hold(b.piece(read(b, amount, 1)[0], 0, 8))
        halves = read(b, source, halves_of(target))
        write(b, vex, target, [b.join(*(operator(b, x, count) for x in split(b, half, size))) for half in halves])

    return semantics


def extend(small: int, large: int, by: Callable[[Builder, Var, int], Var]) -> VectorSemantics:
    """`pmovzx`, `pmovsx`: as many low lanes as fit."""

    def semantics(b: Builder, vex: bool, target: Operand, source: Operand) -> None:
        count = halves_of(target)
        taken = count * HALF * small // large
        whole = b.hold(low(b, source, taken))
        wide = [by(b, lane, large) for lane in split(b, whole, small)]
        per_half = HALF // large
        write(b, vex, target, [b.join(*wide[n * per_half : (n + 1) * per_half]) for n in range(count)])

    return semantics


def chosen_by_top_bit(size: int) -> VectorSemantics:
    """`pblendvb`, `blendvps`, `blendvpd`: the legacy encoding's mask is xmm0."""

    def lane(b: Builder, x: Var, y: Var, mask: Var) -> Var:
        return b.select(b.is_negative(mask), y, x)

    def semantics(b: Builder, vex: bool, target: Operand, *rest: Operand) -> None:
        first, second, mask = rest if vex else (target, rest[0], Register(XMM0))
        count = halves_of(target)
        vectors = [read(b, operand, count) for operand in (first, second, mask)]
        result = [
            b.join(*(lane(b, *triple) for triple in zip(*(split(b, half, size) for half in halves), strict=True)))
            for halves in zip(*vectors, strict=True)
        ]
        write(b, vex, target, result)

    return semantics
