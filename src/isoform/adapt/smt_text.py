"""An adaptor as SMT-LIB: one function for each argument, and one for the result."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from isoform.model.adaptor import AdaptorFound
from isoform.model.errors import UserError
from isoform.model.expression import (
    RESULT,
    Built,
    Change,
    Constant,
    Conversion,
    Expression,
    FloatOperation,
    FloatOperator,
    Loaded,
    Operation,
    Operator,
    Variable,
    parts_of,
)
from isoform.model.signature import CType, TypeKind

_SYMBOL = re.compile(r"[A-Za-z~!@$%^&*_+=<>.?/-][\w~!@$%^&*+=<>.?/-]*", re.ASCII)
_OPERATORS = {
    Operator.ADD: "bvadd",
    Operator.SUBTRACT: "bvsub",
    Operator.MULTIPLY: "bvmul",
    Operator.AND: "bvand",
    Operator.OR: "bvor",
    Operator.XOR: "bvxor",
    Operator.UNSIGNED_DIVIDE: "bvudiv",
    Operator.SIGNED_DIVIDE: "bvsdiv",
    Operator.UNSIGNED_REMAINDER: "bvurem",
    Operator.SIGNED_REMAINDER: "bvsrem",
    Operator.SHIFT_LEFT: "bvshl",
    Operator.SHIFT_RIGHT: "bvlshr",
    Operator.ARITHMETIC_SHIFT_RIGHT: "bvashr",
    Operator.NEGATE: "bvneg",
    Operator.NOT: "bvnot",
}
_FLOAT_OPERATORS = {
    FloatOperator.ADD: "fp.add RNE",
    FloatOperator.SUBTRACT: "fp.sub RNE",
    FloatOperator.MULTIPLY: "fp.mul RNE",
    FloatOperator.DIVIDE: "fp.div RNE",
}


def smt_text(found: AdaptorFound) -> str:
    """The definitions. Numbers in floating point are of the theory's sorts, which have one NaN only."""
    assert found.adaptor is not None
    if any(isinstance(p, Loaded | Built) for e in found.adaptor.expressions for p in parts_of(e)):
        raise UserError("--emit smt writes expressions over numbers, and this adaptor uses memory: --emit c writes it.")
    target, rewrite = found.asked.signatures
    types = {p.name: p.type for p in target.parameters}
    wanted = {p.name: p.type for p in rewrite.parameters}
    lines = [
        f"; {rewrite.name}, called with these arguments, does what {target.name} does.",
        *(f"; domain: {line}" for line in _domain(found)),
        f"(set-logic {'QF_BVFP' if _has_floats([*types.values(), *wanted.values(), rewrite.result]) else 'QF_BV'})",
    ]
    for name, expression in found.adaptor.arguments:
        lines.append(definition(f"{rewrite.name}.{name}", types, expression, wanted[name]))
    if found.adaptor.result is not None and target.result.kind is not TypeKind.VOID:
        given = {**types, RESULT: rewrite.result} if rewrite.result.bits else types
        lines.append(definition(f"{target.name}.return", given, found.adaptor.result, target.result))
    return "\n".join(lines) + "\n"


def _domain(found: AdaptorFound) -> Iterator[str]:
    yield from " && ".join(filter(None, (found.asked.domain, found.suggested_domain))).splitlines()


def definition(name: str, variables: Mapping[str, CType], expression: Expression, wanted: CType) -> str:
    given = " ".join(f"({symbol(one)} {_sort(ctype)})" for one, ctype in variables.items())
    return f"(define-fun {symbol(name)} ({given}) {_sort(wanted)}\n  {_term(expression)})"


def symbol(name: str) -> str:
    return name if _SYMBOL.fullmatch(name) else f"|{name.replace('|', '_').replace(chr(92), '_')}|"


def _has_floats(types: list[CType]) -> bool:
    return any(ctype.kind is TypeKind.FLOAT for ctype in types)


def _sort(ctype: CType) -> str:
    if ctype.kind is TypeKind.FLOAT:
        return f"(_ FloatingPoint {_format(ctype.bits)})"
    return f"(_ BitVec {ctype.bits})"


def _format(bits: int) -> str:
    return "8 24" if bits == 32 else "11 53"


def _number(value: int, bits: int) -> str:
    return f"(_ bv{value} {bits})"


def _term(expression: Expression) -> str:
    match expression:
        case Variable(name):
            return symbol(name)
        case Constant(value, bits, is_float):
            return f"((_ to_fp {_format(bits)}) {_number(value, bits)})" if is_float else _number(value, bits)
        case Operation(operator, (operand,)):
            return f"({_OPERATORS[operator]} {_term(operand)})"
        case Operation(operator, (left, right)):
            return _binary(operator, left, right)
        case FloatOperation(float_operator, (left, right)):
            return f"({_FLOAT_OPERATORS[float_operator]} {_term(left)} {_term(right)})"
        case Conversion(change, operand, bits):
            return _conversion(change, _term(operand), operand.bits, bits)
        case _:
            raise TypeError(expression)


def _binary(operator: Operator, left: Expression, right: Expression) -> str:
    first, second, bits = _term(left), _term(right), left.bits
    if operator.is_shift:
        second = f"(bvand {second} {_number(bits - 1, bits)})"
    text = f"({_OPERATORS[operator]} {first} {second})"
    if not operator.divides:
        return text
    zero = _number(0, bits)
    return f"(ite (= {second} {zero}) {zero} {text})"


def _conversion(change: Change, term: str, bits: int, wanted: int) -> str:
    match change:
        case Change.SIGN_EXTENDED:
            return f"((_ sign_extend {wanted - bits}) {term})"
        case Change.ZERO_EXTENDED:
            return f"((_ zero_extend {wanted - bits}) {term})"
        case Change.TRUNCATED:
            return f"((_ extract {wanted - 1} 0) {term})"
        case Change.TRUTH:
            return f"(ite (= {term} {_number(0, bits)}) {_number(0, wanted)} {_number(1, wanted)})"
        case Change.FROM_SIGNED | Change.RESIZED_FLOAT:
            return f"((_ to_fp {_format(wanted)}) RNE {term})"
        case Change.TO_SIGNED:
            return _truncated(term, bits, wanted)


def _truncated(term: str, bits: int, wanted: int) -> str:
    """The theory says nothing about numbers that do not fit."""
    least = f"((_ to_fp {_format(bits)}) RTZ {_number(1 << (wanted - 1), wanted)})"
    whole = f"(fp.roundToIntegral RTZ {term})"
    fits = f"(and (fp.leq {least} {whole}) (fp.lt {whole} (fp.neg {least})))"
    return f"(ite {fits} ((_ fp.to_sbv {wanted}) RTZ {term}) {_number(1 << (wanted - 1), wanted)})"
