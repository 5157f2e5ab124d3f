"""Floating point of SSE to SSE4.1 and AVX, scalar and packed, with x86's rules for NaNs.

An operation on NaNs gives the first operand that is a NaN, made quiet. An operation on numbers whose result is a NaN
gives the default NaN, whose sign is set. The control word is assumed to have its default (assumption
`default-rounding-mode`), and its exception flags are not modelled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.flags import CF, OF, PF, SF, ZF
from isoform.isa.x86_64.lanes import HALF, Binary, Unary, all_if, each_lane, horizontal, lanes, split
from isoform.isa.x86_64.operands import NoSemanticsError, Operand, Register
from isoform.isa.x86_64.vectors import (
    VectorSemantics,
    binary,
    control,
    halves_of,
    low,
    read,
    sources_of,
    unary,
    unary_immediate,
    write,
)
from isoform.model.evaluate_floats import canonical_nan, quiet_bit, sign_bit
from isoform.model.microop import Kind, Var, const

_FROM_CONTROL_WORD, _NEAREST = 4, 0

# One number


def _default_nan(size: int) -> Var:
    return const(canonical_nan(size) | sign_bit(size), size)


def _quiet(b: Builder, x: Var) -> Var:
    return b.or_(x, quiet_bit(x.size))


def _or_default(b: Builder, result: Var) -> Var:
    return b.select(b.float_nan(result), _default_nan(result.size), result)


def arithmetic(kind: Kind) -> Binary:
    def operator(b: Builder, x: Var, y: Var) -> Var:
        result = _or_default(b, b.float_binary(kind, x, y))
        of_second = b.select(b.float_nan(y), _quiet(b, y), result)
        return b.select(b.float_nan(x), _quiet(b, x), of_second)

    return operator


add, subtract = arithmetic(Kind.FLOAT_ADD), arithmetic(Kind.FLOAT_SUB)


def square_root(b: Builder, x: Var) -> Var:
    result = _or_default(b, b.float_unary(Kind.FLOAT_SQRT, x.size, x))
    return b.select(b.float_nan(x), _quiet(b, x), result)


def minimum(b: Builder, x: Var, y: Var) -> Var:
    """The second operand if both are zeros or one is a NaN."""
    return b.select(b.float_compare(Kind.FLOAT_LESS, x, y), x, y)


def maximum(b: Builder, x: Var, y: Var) -> Var:
    return b.select(b.float_compare(Kind.FLOAT_LESS, y, x), x, y)


def resized(b: Builder, x: Var) -> Var:
    """To the other size; a NaN keeps its sign and the upper part of its payload."""
    size = 12 - x.size
    result = b.float_unary(Kind.FLOAT_FROM_FLOAT, size, x)
    return b.select(b.float_nan(x), _nan_resized(b, x, size), result)


def _nan_resized(b: Builder, x: Var, size: int) -> Var:
    distance = (quiet_bit(8) // quiet_bit(4)).bit_length() - 1
    if size == 8:
        payload = b.shl(b.zext(x, 8), distance)
        sign = b.shl(b.zext(b.shr(x, 31), 8), 63)
    else:
        payload = b.piece(b.shr(x, distance), 0, 4)
        sign = b.shl(b.piece(b.shr(x, 63), 0, 4), 31)
    return b.or_(b.or_(b.and_(payload, quiet_bit(size) - 1), canonical_nan(size)), sign)


def from_integer(size: int) -> Unary:
    return lambda b, x: b.float_unary(Kind.FLOAT_FROM_INT, size, x)


def to_integer(kind: Kind, size: int) -> Unary:
    return lambda b, x: b.float_unary(kind, size, x)


def rounded(b: Builder, x: Var, steer: int) -> Var:
    mode = _NEAREST if steer & _FROM_CONTROL_WORD else steer & 3
    result = b.float_round(x, mode)
    return b.select(b.float_nan(x), _quiet(b, x), result)


# Comparisons

Predicate = Callable[[Builder, Var, Var], Var]


def _unordered(b: Builder, x: Var, y: Var) -> Var:
    return b.either(b.float_nan(x), b.float_nan(y))


def _compares(kind: Kind, swapped: bool = False) -> Predicate:
    return lambda b, x, y: b.float_compare(kind, y, x) if swapped else b.float_compare(kind, x, y)


def _not(predicate: Predicate) -> Predicate:
    return lambda b, x, y: b.negate(predicate(b, x, y))


def _or_unordered(predicate: Predicate) -> Predicate:
    return lambda b, x, y: b.either(predicate(b, x, y), _unordered(b, x, y))


_equal, _less = _compares(Kind.FLOAT_EQUAL), _compares(Kind.FLOAT_LESS)
_less_or_equal = _compares(Kind.FLOAT_LESSEQUAL)
_greater, _greater_or_equal = _compares(Kind.FLOAT_LESS, True), _compares(Kind.FLOAT_LESSEQUAL, True)

# By the part of the mnemonic between CMP and the type. A suffix says what a NaN counts as (U: the comparison holds) and
# which exception flags are set (S or Q).
_LEGACY_PREDICATES: Mapping[str, Predicate] = {
    "EQ": _equal,
    "LT": _less,
    "LE": _less_or_equal,
    "UNORD": _unordered,
    "NEQ": _not(_equal),
    "NLT": _not(_less),
    "NLE": _not(_less_or_equal),
    "ORD": _not(_unordered),
}
_VEX_PREDICATES: Mapping[str, Predicate] = {
    **_LEGACY_PREDICATES,
    "EQ_UQ": _or_unordered(_equal),
    "NGE": _not(_greater_or_equal),
    "NGT": _not(_greater),
    "FALSE": lambda b, x, y: b.boolean(False),
    "NEQ_OQ": _not(_or_unordered(_equal)),
    "GE": _greater_or_equal,
    "GT": _greater,
    "TRUE": lambda b, x, y: b.boolean(True),
    "EQ_OS": _equal,
    "LT_OQ": _less,
    "LE_OQ": _less_or_equal,
    "UNORD_S": _unordered,
    "NEQ_US": _not(_equal),
    "NLT_UQ": _not(_less),
    "NLE_UQ": _not(_less_or_equal),
    "ORD_S": _not(_unordered),
    "EQ_US": _or_unordered(_equal),
    "NGE_UQ": _not(_greater_or_equal),
    "NGT_UQ": _not(_greater),
    "FALSE_OS": lambda b, x, y: b.boolean(False),
    "NEQ_OS": _not(_or_unordered(_equal)),
    "GE_OQ": _greater_or_equal,
    "GT_OQ": _greater,
    "TRUE_US": lambda b, x, y: b.boolean(True),
}


def _masked(predicate: Predicate) -> Binary:
    return lambda b, x, y: all_if(b, predicate(b, x, y), x.size)


def compare_to_flags(size: int) -> VectorSemantics:
    """`ucomis`, `comis`: unordered sets all three."""

    def semantics(b: Builder, vex: bool, left: Operand, right: Operand) -> None:
        x, y = low(b, left, size), low(b, right, size)
        unordered = _unordered(b, x, y)
        b.set(ZF, b.either(unordered, _equal(b, x, y)))
        b.set(CF, b.either(unordered, _less(b, x, y)))
        b.set(PF, unordered)
        for flag in (OF, SF):
            b.set(flag, 0)

    return semantics


# Shapes of instructions


def _write_scalar(b: Builder, vex: bool, target: Operand, kept: Operand, value: Var) -> None:
    """The rest of the register comes from the first source."""
    upper = b.piece(read(b, kept, 1)[0], value.size, HALF - value.size)
    write(b, vex, target, [b.join(value, upper)])


def scalar(size: int, operator: Binary) -> VectorSemantics:
    def semantics(b: Builder, vex: bool, target: Operand, *rest: Operand) -> None:
        first, second = sources_of(vex, target, rest)
        _write_scalar(b, vex, target, first, operator(b, low(b, first, size), low(b, second, size)))

    return semantics


def scalar_unary(size: int, operator: Unary) -> VectorSemantics:
    def semantics(b: Builder, vex: bool, target: Operand, *rest: Operand) -> None:
        first, second = sources_of(vex, target, rest)
        _write_scalar(b, vex, target, first, operator(b, low(b, second, size)))

    return semantics


def scalar_round(size: int) -> VectorSemantics:
    def semantics(b: Builder, vex: bool, target: Operand, *rest: Operand) -> None:
        first, second = sources_of(vex, target, rest[:-1])
        _write_scalar(b, vex, target, first, rounded(b, low(b, second, size), control(rest[-1])))

    return semantics


def scalar_from_integer(size: int) -> VectorSemantics:
    def semantics(b: Builder, vex: bool, target: Operand, *rest: Operand) -> None:
        first, second = sources_of(vex, target, rest)
        if isinstance(second, Register) and second.is_vector:
            raise NoSemanticsError
        value = b.read(second)
        if value.size not in (4, 8):
            raise NoSemanticsError
        _write_scalar(b, vex, target, first, from_integer(size)(b, value))

    return semantics


def scalar_to_integer(kind: Kind, size: int) -> VectorSemantics:
    def semantics(b: Builder, vex: bool, target: Operand, source: Operand) -> None:
        if not isinstance(target, Register) or target.is_vector or target.var.size not in (4, 8):
            raise NoSemanticsError
        b.write(target, to_integer(kind, target.var.size)(b, low(b, source, size)))

    return semantics


def widening(size: int, operator: Unary) -> VectorSemantics:
    """The low lanes of `size` bytes that become lanes of eight."""

    def semantics(b: Builder, vex: bool, target: Operand, source: Operand) -> None:
        count = halves_of(target)
        whole = b.hold(low(b, source, count * HALF * size // 8))
        wide = [operator(b, lane) for lane in split(b, whole, size)]
        write(b, vex, target, [b.join(*wide[2 * n : 2 * n + 2]) for n in range(count)])

    return semantics


def narrowing(operator: Unary) -> VectorSemantics:
    """Lanes of eight bytes to lanes of four; zeros above them."""

    def semantics(b: Builder, vex: bool, target: Operand, source: Operand) -> None:
        count = halves_of(source) if isinstance(source, Register) else (source_size(source) // HALF)
        narrow = [operator(b, lane) for half in read(b, source, count) for lane in split(b, half, 8)]
        write(b, vex, target, [b.zext(b.join(*narrow), HALF)])

    return semantics


def source_size(source: Operand) -> int:
    size = getattr(source, "size", None)
    if size not in (HALF, 2 * HALF):
        raise NoSemanticsError
    return int(size)


def _add_and_subtract(size: int) -> Binary:
    """Odd lanes are added, even ones subtracted."""

    def on_half(b: Builder, left: Var, right: Var) -> Var:
        pairs = zip(split(b, left, size), split(b, right, size), strict=True)
        return b.join(*((add if n % 2 else subtract)(b, x, y) for n, (x, y) in enumerate(pairs)))

    return on_half


def _round_lanes(size: int) -> Callable[[Builder, Var, int], Var]:
    return lambda b, half, steer: b.join(*(rounded(b, x, steer) for x in split(b, half, size)))


def _of_both_sizes(name: str, operator: Binary) -> dict[str, VectorSemantics]:
    return {
        f"{name}SS": scalar(4, operator),
        f"{name}SD": scalar(8, operator),
        f"{name}PS": binary(lanes(4, operator)),
        f"{name}PD": binary(lanes(8, operator)),
    }


def _comparisons(predicates: Mapping[str, Predicate]) -> dict[str, VectorSemantics]:
    found: dict[str, VectorSemantics] = {}
    for word, predicate in predicates.items():
        found |= _of_both_sizes(f"CMP{word}", _masked(predicate))
    return found


_TRUNCATED, _NEAREST_INTEGER = Kind.FLOAT_TO_INT, Kind.FLOAT_ROUND_TO_INT

# fmt: off
FLOATS: Mapping[str, VectorSemantics] = {
    **_of_both_sizes("ADD", add), **_of_both_sizes("SUB", subtract),
    **_of_both_sizes("MUL", arithmetic(Kind.FLOAT_MUL)), **_of_both_sizes("DIV", arithmetic(Kind.FLOAT_DIV)),
    **_of_both_sizes("MIN", minimum), **_of_both_sizes("MAX", maximum),
    **_comparisons(_LEGACY_PREDICATES),
    "SQRTSS": scalar_unary(4, square_root), "SQRTSD": scalar_unary(8, square_root),
    "SQRTPS": unary(each_lane(4, square_root)), "SQRTPD": unary(each_lane(8, square_root)),
    "UCOMISS": compare_to_flags(4), "UCOMISD": compare_to_flags(8),
    "COMISS": compare_to_flags(4), "COMISD": compare_to_flags(8),
    "CVTSI2SS": scalar_from_integer(4), "CVTSI2SD": scalar_from_integer(8),
    "CVTTSS2SI": scalar_to_integer(_TRUNCATED, 4), "CVTTSD2SI": scalar_to_integer(_TRUNCATED, 8),
    "CVTSS2SI": scalar_to_integer(_NEAREST_INTEGER, 4), "CVTSD2SI": scalar_to_integer(_NEAREST_INTEGER, 8),
    "CVTSS2SD": scalar_unary(4, resized), "CVTSD2SS": scalar_unary(8, resized),
    "CVTPS2PD": widening(4, resized), "CVTPD2PS": narrowing(resized),
    "CVTDQ2PD": widening(4, from_integer(8)), "CVTDQ2PS": unary(each_lane(4, from_integer(4))),
    "CVTPS2DQ": unary(each_lane(4, to_integer(_NEAREST_INTEGER, 4))),
    "CVTTPS2DQ": unary(each_lane(4, to_integer(_TRUNCATED, 4))),
    "CVTPD2DQ": narrowing(to_integer(_NEAREST_INTEGER, 4)), "CVTTPD2DQ": narrowing(to_integer(_TRUNCATED, 4)),
    "ROUNDSS": scalar_round(4), "ROUNDSD": scalar_round(8),
    "ROUNDPS": unary_immediate(0, _round_lanes(4)), "ROUNDPD": unary_immediate(0, _round_lanes(8)),
    "HADDPS": binary(horizontal(4, add)), "HADDPD": binary(horizontal(8, add)),
    "HSUBPS": binary(horizontal(4, subtract)), "HSUBPD": binary(horizontal(8, subtract)),
    "ADDSUBPS": binary(_add_and_subtract(4)), "ADDSUBPD": binary(_add_and_subtract(8)),
}
"""With a legacy encoding and, under a name that starts with V, a VEX one."""
VEX_FLOATS: Mapping[str, VectorSemantics] = {
    f"V{name}": semantics for name, semantics in _comparisons(_VEX_PREDICATES).items()
}
# fmt: on
