"""`pcmpistri`, `pcmpistrm`, `pcmpestri`, `pcmpestrm`: two strings in vectors, compared as the immediate says.

Bits 1:0 of the immediate give the kind of element, 3:2 the comparison, 5:4 what is inverted, 6 the shape of the result.
The first operand is a set, a list of ranges, or the string looked for; the second one is the text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.flags import CF, OF, PF, SF, ZF
from isoform.isa.x86_64.lanes import HALF, all_if, split
from isoform.isa.x86_64.operands import Operand, Register
from isoform.isa.x86_64.registers import REGISTERS
from isoform.isa.x86_64.vectors import XMM0, VectorSemantics, control, read, write
from isoform.model.microop import FALSE, TRUE, Var, const
from isoform.model.values import dataclass

EAX, EDX, ECX = (REGISTERS[name] for name in ("eax", "edx", "ecx"))


@dataclass(frozen=True)
class Text:
    """One operand: its elements, which of them count, and whether it ends before its last element."""

    elements: list[Var]
    counts: list[Var]
    ends: Var


def _any(b: Builder, conditions: list[Var]) -> Var:
    return reduce(b.either, conditions)


def _all(b: Builder, conditions: list[Var]) -> Var:
    return reduce(b.both, conditions)


# The two operands


def _up_to_zero(b: Builder, elements: list[Var], _length: Var) -> Text:
    """Elements count up to the first zero."""
    counts: list[Var] = []
    going = TRUE
    for element in elements:
        going = b.both(going, b.differ(element, 0))
        counts.append(going)
    return Text(elements, counts, b.negate(going))


def _of_length(b: Builder, elements: list[Var], length: Var) -> Text:
    """As many elements as the absolute value of a register."""
    size = b.select(b.is_negative(length), b.negative(length), length)
    counts = [b.below(const(number, 4), size) for number in range(len(elements))]
    return Text(elements, counts, b.below(size, len(elements)))


# The comparisons: one bit for each element of the text


def _in_set(b: Builder, sought: Text, text: Text, signed: bool) -> list[Var]:
    def bit(element: Var, counts: Var) -> Var:
        pairs = zip(sought.elements, sought.counts, strict=True)
        return b.both(counts, _any(b, [b.both(valid, b.equal(element, one)) for one, valid in pairs]))

    return [bit(*pair) for pair in zip(text.elements, text.counts, strict=True)]


def _in_ranges(b: Builder, sought: Text, text: Text, signed: bool) -> list[Var]:
    """A range is two adjacent elements, and is valid if both are."""

    def not_above(low: Var, high: Var) -> Var:
        return b.negate(b.less(high, low)) if signed else b.below_or_equal(low, high)

    def bit(element: Var, counts: Var) -> Var:
        inside = [
            b.both(
                sought.counts[n + 1],  # then the one before it is valid too
                b.both(not_above(sought.elements[n], element), not_above(element, sought.elements[n + 1])),
            )
            for n in range(0, len(sought.elements), 2)
        ]
        return b.both(counts, _any(b, inside))

    return [bit(*pair) for pair in zip(text.elements, text.counts, strict=True)]


def _each(b: Builder, sought: Text, text: Text, signed: bool) -> list[Var]:
    """Places where both have the same element, or where both have ended."""

    def bit(one: Var, other: Var, valid: Var, valid_too: Var) -> Var:
        same = b.both(b.both(valid, valid_too), b.equal(one, other))
        return b.either(same, b.negate(b.either(valid, valid_too)))

    columns = (sought.elements, text.elements, sought.counts, text.counts)
    return [bit(*row) for row in zip(*columns, strict=True)]


def _substring(b: Builder, sought: Text, text: Text, signed: bool) -> list[Var]:
    """Positions at which the sought string occurs, as far as the vector reaches."""

    def matches(one: int, place: int) -> Var:
        same = b.both(text.counts[place], b.equal(sought.elements[one], text.elements[place]))
        return b.either(b.negate(sought.counts[one]), same)

    count = len(text.elements)
    return [_all(b, [matches(n, start + n) for n in range(count - start)]) for start in range(count)]


_COMPARISONS: tuple[Callable[[Builder, Text, Text, bool], list[Var]], ...] = (_in_set, _in_ranges, _each, _substring)


def _inverted(b: Builder, bits: list[Var], text: Text, steer: int) -> list[Var]:
    if not steer & 0x10:
        return bits
    if not steer & 0x20:
        return [b.negate(bit) for bit in bits]
    return [b.exactly_one(bit, counts) for bit, counts in zip(bits, text.counts, strict=True)]


# The results


def _index(b: Builder, bits: list[Var], last: bool) -> Var:
    """The number of the first or last bit that is set; the number of bits if none is."""
    found: Var = const(len(bits), 4)
    for number, bit in enumerate(bits) if last else reversed(list(enumerate(bits))):
        found = b.select(bit, const(number, 4), found)
    return found


def _bit_mask(b: Builder, bits: list[Var]) -> Var:
    placed = (b.shl(b.zext(bit, 2), number) if number else b.zext(bit, 2) for number, bit in enumerate(bits))
    return b.zext(reduce(b.or_, placed), HALF)


def _element_mask(b: Builder, bits: list[Var]) -> Var:
    return b.join(*(all_if(b, bit, HALF // len(bits)) for bit in bits))


def compare(explicit: bool, to_index: bool) -> VectorSemantics:
    """`explicit`: lengths in eax and edx; else up to a zero. `to_index`: to ecx; else a mask to xmm0."""

    def semantics(b: Builder, vex: bool, first: Operand, second: Operand, immediate: Operand) -> None:
        steer = control(immediate)
        size = 2 if steer & 1 else 1
        operand = _of_length if explicit else _up_to_zero
        sought = operand(b, split(b, b.hold(read(b, first, 1)[0]), size), EAX)
        text = operand(b, split(b, b.hold(read(b, second, 1)[0]), size), EDX)
        bits = _COMPARISONS[steer >> 2 & 3](b, sought, text, bool(steer & 2))
        bits = _inverted(b, bits, text, steer)
        for flag, value in ((CF, _any(b, bits)), (ZF, text.ends), (SF, sought.ends), (OF, bits[0]), (PF, FALSE)):
            b.set(flag, value)
        if to_index:
            b.write_register(ECX, _index(b, bits, last=bool(steer & 0x40)))
        else:
            mask = _element_mask(b, bits) if steer & 0x40 else _bit_mask(b, bits)
            write(b, vex, Register(XMM0), [mask])

    return semantics


STRING_COMPARISONS: Mapping[str, VectorSemantics] = {
    "PCMPISTRI": compare(explicit=False, to_index=True),
    "PCMPISTRM": compare(explicit=False, to_index=False),
    "PCMPESTRI": compare(explicit=True, to_index=True),
    "PCMPESTRM": compare(explicit=True, to_index=False),
}
"""With a legacy encoding and, under a name that starts with V, a VEX one."""
