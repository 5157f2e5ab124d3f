"""What floating-point operations of adaptors compute, on bit patterns.

Which NaN results follows the usual scalar instructions: the first operand that is a NaN, made quiet; and the default
NaN, whose sign is set, where numbers give a NaN. Wrappers are made for that machine only.
"""

from __future__ import annotations

from isoform.model.evaluate import evaluate
from isoform.model.evaluate_floats import canonical_nan, is_nan, quiet_bit, sign_bit
from isoform.model.microop import Kind


def arithmetic(kind: Kind, bits: int, left: int, right: int) -> int:
    size = bits // 8
    for operand in (left, right):
        if is_nan(operand, size):
            return operand | quiet_bit(size)
    result = evaluate(kind, size, [size, size], [left, right])
    return canonical_nan(size) | sign_bit(size) if is_nan(result, size) else result


def from_signed(value: int, bits: int, wanted: int) -> int:
    return evaluate(Kind.FLOAT_FROM_INT, wanted // 8, [bits // 8], [value])


def to_signed(value: int, bits: int, wanted: int) -> int:
    """Rounded toward zero; the least number for what does not fit."""
    return evaluate(Kind.FLOAT_TO_INT, wanted // 8, [bits // 8], [value]) & ((1 << wanted) - 1)


def resized(value: int, bits: int, wanted: int) -> int:
    """A NaN keeps its sign and the upper part of its payload."""
    if not is_nan(value, bits // 8):
        return evaluate(Kind.FLOAT_FROM_FLOAT, wanted // 8, [bits // 8], [value])
    distance = (quiet_bit(8) // quiet_bit(4)).bit_length() - 1
    payload = value << distance if wanted > bits else value >> distance
    sign = sign_bit(wanted // 8) if value & sign_bit(bits // 8) else 0
    return payload & (quiet_bit(wanted // 8) - 1) | canonical_nan(wanted // 8) | sign
