"""What an argument of the rewrite may be: the leaves of its expression, the operators, and how deep it may be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from isoform.model.adaptor import Family
from isoform.model.expression import RESULT, Change, Conversion, Expression, Operator, Variable
from isoform.model.signature import CType, Signature, TypeKind
from isoform.model.values import dataclass

CHEAP = (Operator.SUBTRACT, Operator.AND, Operator.ADD, Operator.OR, Operator.XOR, Operator.NEGATE, Operator.NOT)
SHIFTS = (Operator.SHIFT_LEFT, Operator.SHIFT_RIGHT, Operator.ARITHMETIC_SHIFT_RIGHT)
PRODUCTS = (Operator.MULTIPLY,)
QUOTIENTS = tuple(operator for operator in Operator if operator.divides)
ALL_OPERATORS = (*CHEAP, *SHIFTS, *PRODUCTS, *QUOTIENTS)
"""Cheapest for a solver first."""


@dataclass(frozen=True)
class Space:
    """Expressions of `bits` bits: trees of `operators`, at most `depth` deep, over leaves and constants."""

    bits: int
    leaves: tuple[Expression, ...]
    operators: tuple[Operator, ...] = ()
    depth: int = 1
    has_constants: bool = True

    def with_operators(self, operators: Sequence[Operator]) -> Space:
        """The same with some of the operators only."""
        kept = tuple(operator for operator in self.operators if operator in operators)
        return Space(self.bits, self.leaves, kept, self.depth if kept else 1, self.has_constants)


def argument_space(
    parameters: Sequence[tuple[Variable, CType]],
    wanted: CType,
    family: Family,
    depth: int,
    operators: Sequence[Operator],
) -> Space:
    """What an argument of type `wanted` may be, in a family."""
    leaves = tuple(dict.fromkeys(_leaves(parameters, wanted, family)))
    if family is Family.ARITHMETIC and wanted.kind is not TypeKind.FLOAT:
        return Space(wanted.bits, leaves, tuple(operators), depth)
    return Space(wanted.bits, leaves)


def _leaves(parameters: Sequence[tuple[Variable, CType]], wanted: CType, family: Family) -> Iterable[Expression]:
    for variable, ctype in parameters:
        if _is_float(ctype) == _is_float(wanted) and ctype.bits == wanted.bits:
            yield variable
        if family is Family.SUBSTITUTION:
            continue
        if not _is_float(ctype) and not _is_float(wanted):
            yield from _conversions(variable, ctype, wanted.bits, natural=family is Family.ARITHMETIC)


def _conversions(value: Expression, ctype: CType, bits: int, natural: bool) -> Iterable[Expression]:
    """A value at another width. `natural`: only as C converts it."""
    if value.bits > bits:
        yield Conversion(Change.TRUNCATED, value, bits)
    if value.bits < bits:
        changes = [Change.SIGN_EXTENDED, Change.ZERO_EXTENDED]
        if not ctype.signed:
            changes.reverse()
        for change in changes[: 1 if natural else 2]:
            yield Conversion(change, value, bits)
    if natural:
        return
    if value.bits == bits and isinstance(value, Variable) and value.name != RESULT:
        # The low part of a parameter alone, as where the rewrite takes a narrower number in a wider type.
        for narrow in (b for b in (8, 16, 32) if b < bits):
            part = Conversion(Change.TRUNCATED, value, narrow)
            yield Conversion(Change.SIGN_EXTENDED, part, bits)
            yield Conversion(Change.ZERO_EXTENDED, part, bits)
    yield Conversion(Change.TRUTH, value, bits)


def result_choices(signatures: tuple[Signature, Signature], family: Family) -> tuple[Expression, ...]:
    """What may be made of the rewrite's result, simplest first, in families whose holes are arguments."""
    wanted, given = (signature.result for signature in signatures)
    if wanted.kind is TypeKind.VOID:
        return (Variable(RESULT, given.bits, given.signed),)
    if given.kind is TypeKind.VOID:
        return ()
    value = Variable(RESULT, given.bits, given.signed)
    found: list[Expression] = []
    if given.bits == wanted.bits and _is_float(given) == _is_float(wanted):
        found.append(value)
    if family is not Family.SUBSTITUTION and not _is_float(given) and not _is_float(wanted):
        found += _conversions(value, given, wanted.bits, natural=family is Family.ARITHMETIC)
    return tuple(dict.fromkeys(found))


def _is_float(ctype: CType) -> bool:
    return ctype.kind is TypeKind.FLOAT


def result_space(
    parameters: Sequence[tuple[Variable, CType]],
    signatures: tuple[Signature, Signature],
    depth: int,
    operators: Sequence[Operator],
) -> Space:
    """Expressions over the parameters and what the rewrite returned, for the result. The parameters come first."""
    wanted, given = (signature.result for signature in signatures)
    values = [*parameters, (Variable(RESULT, given.bits, given.signed), given)]
    return argument_space(values, wanted, Family.ARITHMETIC, depth, operators)
