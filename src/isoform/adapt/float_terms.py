"""Floating-point operations of adaptors as terms: the same uninterpreted functions that the encoder uses for machine
code, with the choice of NaNs that `model/expression_floats.py` defines."""

from __future__ import annotations

from collections.abc import Sequence

from isoform.model.evaluate_floats import canonical_nan, quiet_bit, sign_bit
from isoform.model.expression import Change
from isoform.model.microop import Kind
from isoform.smt import floats
from isoform.smt.terms import Term, Terms


def arithmetic(terms: Terms, kind: Kind, operands: Sequence[Term]) -> Term:
    width = terms.width(operands[0])
    size = width // 8
    result = floats.result(terms, kind, width, operands)
    default = terms.bv(canonical_nan(size) | sign_bit(size), width)
    result = terms.ite(floats.is_nan_term(terms, result), default, result)
    for operand in reversed(operands):
        quiet = terms.or_(operand, terms.bv(quiet_bit(size), width))
        result = terms.ite(floats.is_nan_term(terms, operand), quiet, result)
    return result


def converted(terms: Terms, change: Change, value: Term, bits: int) -> Term:
    match change:
        case Change.FROM_SIGNED:
            return floats.result(terms, Kind.FLOAT_FROM_INT, bits, [value])
        case Change.TO_SIGNED:
            return floats.result(terms, Kind.FLOAT_TO_INT, bits, [value])
        case Change.RESIZED_FLOAT:
            result = floats.result(terms, Kind.FLOAT_FROM_FLOAT, bits, [value])
            return terms.ite(floats.is_nan_term(terms, value), _resized_nan(terms, value, bits), result)
        case _:
            raise TypeError(change)


def _resized_nan(terms: Terms, value: Term, bits: int) -> Term:
    """Its sign and the upper part of its payload, made quiet."""
    width = terms.width(value)
    distance = (quiet_bit(8) // quiet_bit(4)).bit_length() - 1
    if bits > width:
        payload = terms.shl(terms.zext(value, bits), terms.bv(distance, bits))
        sign = terms.shl(terms.zext(terms.extract(value, width - 1, width - 1), bits), terms.bv(bits - 1, bits))
    else:
        payload = terms.extract(value, distance + bits - 1, distance)
        sign = terms.concat(terms.extract(value, width - 1, width - 1), terms.bv(0, bits - 1))
    kept = terms.and_(payload, terms.bv(quiet_bit(bits // 8) - 1, bits))
    return terms.or_(terms.or_(kept, terms.bv(canonical_nan(bits // 8), bits)), sign)
