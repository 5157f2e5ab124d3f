"""Vector instructions as a whole: operands, the two encodings, and everything that is not lane by lane.

Legacy encodings keep the bits above 127 of their target; VEX encodings clear what is above their result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isoform.isa.x86_builder import Builder
from isoform.isa.x86_flags import CF, OF, PF, SF, ZF
from isoform.isa.x86_lanes import BINARY, HALF, UNARY, VARIABLE_SHIFTS, Binary, Unary, split
from isoform.isa.x86_operands import Immediate, Memory, NoSemanticsError, Operand, Register
from isoform.isa.x86_registers import REGISTERS
from isoform.isa.x86_shuffles import (
    BINARY_IMMEDIATE,
    SHIFTED_BYTES,
    UNARY_IMMEDIATE,
    BinaryImmediate,
    UnaryImmediate,
    blend,
    insert_single,
    permute_doubles,
    shuffle_dwords,
)
from isoform.microop import Space, Var, const

VectorSemantics = Callable[..., None]
"""Takes the builder, whether the encoding is VEX, and the operands."""

XMM0, RDI = REGISTERS["xmm0"], REGISTERS["rdi"]


# Operands


def halves_of(target: Operand) -> int:
    if not isinstance(target, Register) or not target.is_vector:
        raise NoSemanticsError
    return target.var.size // HALF


def read(b: Builder, source: Operand, count: int) -> list[Var]:
    """The first `count` halves of an operand."""
    if isinstance(source, Register) and source.is_vector:
        return [Var(Space.REGISTER, source.var.offset + HALF * n, HALF) for n in range(count)]
    if isinstance(source, Memory):
        return [b.load(b.address_of_part(source, HALF * n, HALF), HALF) for n in range(count)]
    raise NoSemanticsError


def low(b: Builder, source: Operand, size: int) -> Var:
    """The low bytes of a vector register, or that many bytes of memory."""
    if isinstance(source, Register) and not source.is_vector:
        raise NoSemanticsError
    return b.read(source, size)


def write(b: Builder, vex: bool, target: Operand, halves: list[Var]) -> None:
    if isinstance(target, Memory):
        for number, half in enumerate(halves):
            b.store(b.address_of_part(target, HALF * number, HALF), half)
        return
    if not isinstance(target, Register) or not target.is_vector:
        raise NoSemanticsError
    # A half may be read for another one's sake: nothing is written before all are computed.
    held = [b.hold(half) if half.space is Space.REGISTER else half for half in halves] if len(halves) > 1 else halves
    for number, half in enumerate(held):
        b.set(Var(Space.REGISTER, target.var.offset + HALF * number, HALF), half)
    if vex:
        clear_above(b, target.var.offset, len(halves))


def clear_above(b: Builder, offset: int, count: int) -> None:
    if count < 2:
        b.set(Var(Space.REGISTER, offset + HALF, HALF), 0)
    b.set(Var(Space.REGISTER, offset + 2 * HALF, 2 * HALF), 0)


def sources_of(vex: bool, target: Operand, sources: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """The legacy encoding's first source is its target."""
    return sources if vex else (target, *sources)


def control(operand: Operand) -> int:
    if not isinstance(operand, Immediate):
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


def carryless(steer: int) -> VectorSemantics:
    """`pclmulqdq` with the control in its name, as the disassembly has it."""
    return lambda b, vex, *operands: binary_immediate(*BINARY_IMMEDIATE["PCLMULQDQ"])(
        b, vex, *operands, Immediate(steer)
    )


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
        if isinstance(amount, Immediate):
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


# Moves


def move(b: Builder, vex: bool, target: Operand, source: Operand) -> None:
    count = halves_of(source if isinstance(target, Memory) else target)
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
    """`movss`, `movsd`: between registers the rest of the first source stays; from memory it is zero."""

    def semantics(b: Builder, vex: bool, target: Operand, *rest: Operand) -> None:
        if isinstance(target, Memory):
            b.write(target, low(b, rest[0], size))
        elif isinstance(rest[-1], Memory):
            write(b, vex, target, [b.zext(b.read(rest[-1], size), HALF)])
        else:
            kept, source = sources_of(vex, target, rest)
            upper = b.piece(read(b, kept, 1)[0], size, HALF - size)
            write(b, vex, target, [b.join(low(b, source, size), upper)])

    return semantics


def move_half(at: int) -> VectorSemantics:
    """`movlps`, `movhps` and their doubles: eight bytes of memory to or from one half of a vector."""

    def semantics(b: Builder, vex: bool, target: Operand, *rest: Operand) -> None:
        if isinstance(target, Memory):
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
    if isinstance(source, Memory):
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


# Tests


def _test(size: int | None) -> VectorSemantics:
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
    """`phminposuw`: the first of the smallest of eight words, and where it is."""
    words = split(b, b.hold(read(b, source, 1)[0]), 2)
    best, position = words[0], const(0, 2)
    for number, word in enumerate(words[1:], 1):
        smaller = b.below(word, best)
        best = b.select(smaller, word, best)
        position = b.select(smaller, const(number, 2), position)
    write(b, vex, target, [b.zext(b.join(best, position), HALF)])


# Masked memory


def masked_bytes(b: Builder, vex: bool, source: Operand, mask: Operand) -> None:
    """`maskmovdqu`: a byte that is not chosen is stored as it was."""
    pairs = zip(split(b, read(b, source, 1)[0], 1), split(b, read(b, mask, 1)[0], 1), strict=True)
    for number, (value, chooser) in enumerate(pairs):
        address = b.add(RDI, number) if number else RDI
        b.store(address, b.select(b.is_negative(chooser), value, b.load(address, 1)))


def masked_move(size: int) -> VectorSemantics:
    """`vpmaskmov`, `vmaskmov`: lanes that are not chosen load as zero, and are stored as they were."""

    def semantics(b: Builder, vex: bool, target: Operand, mask: Operand, source: Operand) -> None:
        count = halves_of(mask)
        masks = read(b, mask, count)
        values, storing = read(b, source, count), isinstance(target, Memory)
        others = read(b, target, count) if storing else [const(0, HALF)] * count
        result = []
        for value, chooser, other in zip(values, masks, others, strict=True):
            triples = zip(*(split(b, half, size) for half in (value, chooser, other)), strict=True)
            result.append(b.join(*(b.select(b.is_negative(m), v, o) for v, m, o in triples)))
        write(b, vex, target, result)

    return semantics


# AVX and AVX2: across halves


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
    chosen = [_pick(b, table, lane) for half in read(b, choosers, 2) for lane in split(b, half, 4)]
    write(b, vex, target, [b.join(*chosen[:4]), b.join(*chosen[4:])])


def _pick(b: Builder, table: list[Var], index: Var, first_bit: int = 0) -> Var:
    """The entry that the low bits of the index choose, by a tree of selections."""
    if len(table) == 1:
        return table[0]
    half = len(table) // 2
    top = first_bit + half.bit_length() - 1
    return b.select(
        b.bit(index, top), _pick(b, table[half:], index, first_bit), _pick(b, table[:half], index, first_bit)
    )


def permute_within(size: int) -> VectorSemantics:
    """`vpermilps`, `vpermilpd`, by an immediate or by the lanes of a vector (bits 1:0, or bit 1)."""

    def by_lanes(b: Builder, half: Var, choosers: Var) -> Var:
        table = split(b, half, size)
        first_bit = 0 if size == 4 else 1
        return b.join(*(_pick(b, table, lane, first_bit) for lane in split(b, choosers, size)))

    def semantics(b: Builder, vex: bool, target: Operand, source: Operand, steer: Operand) -> None:
        if isinstance(steer, Immediate):
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


# fmt: off
_EXTENSIONS = {"BW": (1, 2), "BD": (1, 4), "BQ": (1, 8), "WD": (2, 4), "WQ": (2, 8), "DQ": (4, 8)}
_MOVES = ("MOVAPS", "MOVAPD", "MOVUPS", "MOVUPD", "MOVDQA", "MOVDQU", "LDDQU", "MOVNTDQ", "MOVNTPS", "MOVNTPD", "MOVNTDQA")
BOTH: Mapping[str, VectorSemantics] = {
    **{name: binary(operator) for name, operator in BINARY.items()},
    **{name: unary(operator) for name, operator in UNARY.items()},
    **{name: unary_immediate(*entry) for name, entry in UNARY_IMMEDIATE.items()},
    **{name: binary_immediate(*entry) for name, entry in BINARY_IMMEDIATE.items()},
    **{name: shifted_bytes(operator) for name, operator in SHIFTED_BYTES.items()},
    **dict.fromkeys(_MOVES, move),
    "PCLMULLQLQDQ": carryless(0x00), "PCLMULHQLQDQ": carryless(0x01),
    "PCLMULLQHQDQ": carryless(0x10), "PCLMULHQHQDQ": carryless(0x11),
    "PSLLW": shift(2, Builder.shl), "PSLLD": shift(4, Builder.shl), "PSLLQ": shift(8, Builder.shl),
    "PSRLW": shift(2, Builder.shr), "PSRLD": shift(4, Builder.shr), "PSRLQ": shift(8, Builder.shr),
    "PSRAW": shift(2, Builder.sar), "PSRAD": shift(4, Builder.sar),
    **{f"PMOVZX{name}": extend(*sizes, Builder.zext) for name, sizes in _EXTENSIONS.items()},
    **{f"PMOVSX{name}": extend(*sizes, Builder.sext) for name, sizes in _EXTENSIONS.items()},
    "PBLENDVB": chosen_by_top_bit(1), "BLENDVPS": chosen_by_top_bit(4), "BLENDVPD": chosen_by_top_bit(8),
    "MOVD": move_low(4), "MOVQ": move_low(8), "MOVSS": move_scalar(4), "MOVSD": move_scalar(8),
    "MOVLPS": move_half(0), "MOVLPD": move_half(0), "MOVHPS": move_half(8), "MOVHPD": move_half(8),
    "MOVHLPS": move_high_to_low, "MOVLHPS": move_low_to_high, "MOVDDUP": duplicate_double,
    "MOVSLDUP": unary(duplicate((0, 0, 2, 2))), "MOVSHDUP": unary(duplicate((1, 1, 3, 3))),
    "PINSRB": insert(1), "PINSRW": insert(2), "PINSRD": insert(4), "PINSRQ": insert(8), "INSERTPS": insert_ps,
    "PEXTRB": extract(1), "PEXTRW": extract(2), "PEXTRD": extract(4), "PEXTRQ": extract(8), "EXTRACTPS": extract(4),
    "PMOVMSKB": top_bits(1), "MOVMSKPS": top_bits(4), "MOVMSKPD": top_bits(8), "PTEST": _test(None),
    "PHMINPOSUW": minimum_with_position, "MASKMOVDQU": masked_bytes,
}
"""With a legacy encoding and, under a name that starts with V, a VEX one."""
VEX_ONLY: Mapping[str, VectorSemantics] = {
    **{name: binary(operator) for name, operator in VARIABLE_SHIFTS.items()},
    "VBROADCASTSS": broadcast(4), "VBROADCASTSD": broadcast(8), "VBROADCASTF128": broadcast(16),
    "VBROADCASTI128": broadcast(16), "VPBROADCASTB": broadcast(1), "VPBROADCASTW": broadcast(2),
    "VPBROADCASTD": broadcast(4), "VPBROADCASTQ": broadcast(8),
    "VEXTRACTF128": extract_half, "VEXTRACTI128": extract_half, "VINSERTF128": insert_half, "VINSERTI128": insert_half,
    "VPERM2F128": permute_halves, "VPERM2I128": permute_halves, "VPERMQ": permute_quads, "VPERMPD": permute_quads,
    "VPERMD": permute_dwords, "VPERMPS": permute_dwords, "VPERMILPS": permute_within(4), "VPERMILPD": permute_within(8),
    "VPBLENDD": binary_immediate(4, blend(4)), "VPMASKMOVD": masked_move(4), "VPMASKMOVQ": masked_move(8),
    "VMASKMOVPS": masked_move(4), "VMASKMOVPD": masked_move(8), "VTESTPS": _test(4), "VTESTPD": _test(8),
    "VZEROUPPER": zero_upper, "VZEROALL": zero_all,
}
# fmt: on


def find(name: str) -> tuple[VectorSemantics, bool] | None:
    """The semantics of a mnemonic, and whether its encoding is VEX."""
    if name in BOTH:
        return BOTH[name], False
    if name in VEX_ONLY:
        return VEX_ONLY[name], True
    found = BOTH.get(name[1:]) if name.startswith("V") else None
    return (found, True) if found is not None else None
