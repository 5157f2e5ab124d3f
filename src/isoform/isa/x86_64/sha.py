"""SHA-1 and SHA-256 instructions of x86-64. They have a legacy encoding only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.lanes import Binary, split
from isoform.isa.x86_64.operands import NoSemanticsError, Operand, Register
from isoform.isa.x86_64.vectors import XMM0, VectorSemantics, binary, control, read, write
from isoform.model.microop import Var, const

Function = Callable[[Builder, Var, Var, Var], Var]


def _rotated_left(b: Builder, x: Var, count: int) -> Var:
    return b.or_(b.shl(x, count), b.shr(x, 32 - count))


def _rotations(b: Builder, x: Var, *counts: int) -> Var:
    """The exclusive or of x rotated right by each count."""
    return reduce(b.xor, (_rotated_left(b, x, 32 - count) for count in counts))


def _sum(b: Builder, *values: Var) -> Var:
    return reduce(b.add, values)


def choose(b: Builder, x: Var, y: Var, z: Var) -> Var:
    return b.xor(b.and_(x, y), b.and_(b.not_(x), z))


def parity(b: Builder, x: Var, y: Var, z: Var) -> Var:
    return b.xor(x, b.xor(y, z))


def majority(b: Builder, x: Var, y: Var, z: Var) -> Var:
    return b.xor(b.and_(x, y), b.xor(b.and_(x, z), b.and_(y, z)))


def _words(b: Builder, half: Var) -> list[Var]:
    return split(b, b.hold(half), 4)


# SHA-1

_STAGES: tuple[tuple[Function, int], ...] = (
    (choose, 0x5A827999),
    (parity, 0x6ED9EBA1),
    (majority, 0x8F1BBCDC),
    (parity, 0xCA62C1D6),
)


def four_rounds(b: Builder, vex: bool, target: Operand, source: Operand, immediate: Operand) -> None:
    """`sha1rnds4`: the first word of the message comes with e already added."""
    function, constant = _STAGES[control(immediate) & 3]
    d, c, b_, a = _words(b, read(b, target, 1)[0])
    e: Var = const(0, 4)
    for word in reversed(_words(b, read(b, source, 1)[0])):
        mixed = _sum(b, function(b, b_, c, d), _rotated_left(b, a, 5), word, e, const(constant, 4))
        a, b_, c, d, e = mixed, a, _rotated_left(b, b_, 30), c, d
    write(b, vex, target, [b.join(d, c, b_, a)])


def next_e(b: Builder, left: Var, right: Var) -> Var:
    words = _words(b, right)
    return b.join(*words[:3], b.add(words[3], _rotated_left(b, _words(b, left)[3], 30)))


def sha1_schedule_first(b: Builder, left: Var, right: Var) -> Var:
    w3, w2, w1, w0 = _words(b, left)
    w5, w4 = _words(b, right)[2:]
    return b.join(b.xor(w5, w3), b.xor(w4, w2), b.xor(w3, w1), b.xor(w2, w0))


def sha1_schedule_second(b: Builder, left: Var, right: Var) -> Var:
    fourth, third, second, first = _words(b, left)
    w15, w14, w13 = _words(b, right)[:3]
    w16 = _rotated_left(b, b.xor(first, w13), 1)
    w17 = _rotated_left(b, b.xor(second, w14), 1)
    w18 = _rotated_left(b, b.xor(third, w15), 1)
    return b.join(_rotated_left(b, b.xor(fourth, w16), 1), w18, w17, w16)


# SHA-256


def two_rounds(b: Builder, vex: bool, target: Operand, source: Operand, implied: Operand) -> None:
    if not isinstance(implied, Register) or implied.var != XMM0:
        raise NoSemanticsError
    h, g, d, c = _words(b, read(b, target, 1)[0])
    f, e, b_, a = _words(b, read(b, source, 1)[0])
    for word in _words(b, XMM0)[:2]:
        mixed = _sum(b, choose(b, e, f, g), _rotations(b, e, 6, 11, 25), word, h)
        first = _sum(b, mixed, majority(b, a, b_, c), _rotations(b, a, 2, 13, 22))
        a, b_, c, d, e, f, g, h = first, a, b_, c, b.add(mixed, d), e, f, g
    write(b, vex, target, [b.join(f, e, b_, a)])


def sha256_schedule_first(b: Builder, left: Var, right: Var) -> Var:
    words = [*_words(b, left), _words(b, right)[0]]

    def small(x: Var) -> Var:
        return b.xor(_rotations(b, x, 7, 18), b.shr(x, 3))

    return b.join(*(b.add(words[n], small(words[n + 1])) for n in range(4)))


def sha256_schedule_second(b: Builder, left: Var, right: Var) -> Var:
    before = _words(b, right)[2:]

    def small(x: Var) -> Var:
        return b.xor(_rotations(b, x, 17, 19), b.shr(x, 10))

    for number, word in enumerate(_words(b, left)):
        before.append(b.add(word, small(before[number])))
    return b.join(*before[2:])


def _legacy_only(semantics: VectorSemantics) -> VectorSemantics:
    def checked(b: Builder, vex: bool, *operands: Operand) -> None:
        if vex:
            raise NoSemanticsError
        semantics(b, vex, *operands)

    return checked


def _of_two(operator: Binary) -> VectorSemantics:
    return _legacy_only(binary(operator))


SHA: Mapping[str, VectorSemantics] = {
    "SHA1RNDS4": _legacy_only(four_rounds),
    "SHA1NEXTE": _of_two(next_e),
    "SHA1MSG1": _of_two(sha1_schedule_first),
    "SHA1MSG2": _of_two(sha1_schedule_second),
    "SHA256RNDS2": _legacy_only(two_rounds),
    "SHA256MSG1": _of_two(sha256_schedule_first),
    "SHA256MSG2": _of_two(sha256_schedule_second),
}
