"""What an argument or a result may be in the family `float`: conversions between integers and floating point, between
its sizes, and one scaling step by a usual constant or one of the code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from isoform.adapt.pair import as_c_converts
from isoform.borders.question import Question
from isoform.lift.function import Function
from isoform.model.evaluate_floats import is_nan, to_bits, to_float
from isoform.model.expression import (
    Change,
    Constant,
    Conversion,
    Expression,
    FloatOperation,
    FloatOperator,
    Variable,
)
from isoform.model.microop import Space as MicroOpSpace
from isoform.model.signature import CType, TypeKind

USUAL = (2.0, 10.0, 100.0, 1000.0, 0.5, 0.1, 0.01, 0.001, 60.0, 3600.0, 180.0, 255.0, 256.0, 1.0)
"""Constants of units and fixed-point numbers."""
_LEAST, _MOST = 1e-12, 1e12
"""Between these, a bit pattern in the code is taken for a floating-point constant."""
MOST_OF_CODE = 6
_INTEGERS = (0, 1, 2, -1)
"""Integer arguments that are constants."""

Typed = tuple[Variable, CType]
Step = tuple[FloatOperator, float]
"""An operation with a constant."""


def conversions(given: Sequence[Typed], wanted: CType) -> list[Expression]:
    """Each of these as a value of type `wanted`."""
    return [*dict.fromkeys(e for variable, ctype in given for e in _converted(variable, ctype, wanted))]


def scaled(given: Sequence[Typed], wanted: CType, step: Step) -> list[Expression]:
    """The same with one step, in the wanted format; toward an integer, before it is rounded."""
    return [*dict.fromkeys(e for variable, ctype in given for e in _scaled(variable, ctype, wanted, step))]


def steps(numbers: Sequence[float]) -> Iterator[Step]:
    for number in numbers:
        if number != 1.0:
            yield FloatOperator.MULTIPLY, number
            yield FloatOperator.DIVIDE, number
        yield FloatOperator.ADD, number
        yield FloatOperator.SUBTRACT, number
    yield FloatOperator.MULTIPLY, -1.0


def is_float(ctype: CType) -> bool:
    return ctype.kind is TypeKind.FLOAT


def are_nans(ctype: CType, left: int, right: int) -> bool:
    """Whether both are NaNs: which NaN a function returns or stores is left to the comparison."""
    return is_float(ctype) and is_nan(left, ctype.size) and is_nan(right, ctype.size)


def constants(wanted: CType, numbers: Sequence[float]) -> Iterator[Expression]:
    bits = wanted.bits
    if is_float(wanted):
        yield from (_constant(number, bits) for number in (0.0, *numbers))
    else:
        yield from (Constant(number % (1 << bits), bits) for number in _INTEGERS)


def _constant(number: float, bits: int) -> Constant:
    return Constant(to_bits(number, bits // 8), bits, is_float=True)


def _converted(value: Expression, ctype: CType, wanted: CType) -> Iterator[Expression]:
    """The value in another format, as compilers convert it first."""
    if is_float(wanted):
        if is_float(ctype):
            yield _resized(value, wanted.bits)
        elif ctype.kind is not TypeKind.POINTER:
            yield from (Conversion(Change.FROM_SIGNED, whole, wanted.bits) for whole in _wholes(value, ctype))
    elif is_float(ctype):
        if wanted.kind is not TypeKind.POINTER:
            yield from _truncations(value, wanted)
    else:
        yield as_c_converts(value, ctype.signed, wanted.bits)


def _scaled(value: Variable, ctype: CType, wanted: CType, step: Step) -> Iterator[Expression]:
    if is_float(wanted):
        yield from (_operation(base, step) for base in _converted(value, ctype, wanted))
    elif is_float(ctype) and wanted.kind is not TypeKind.POINTER:
        yield from _truncations(_operation(value, step), wanted)


def _operation(base: Expression, step: Step) -> Expression:
    operator, number = step
    return FloatOperation(operator, (base, _constant(number, base.bits)))


def _resized(value: Expression, bits: int) -> Expression:
    return value if value.bits == bits else Conversion(Change.RESIZED_FLOAT, value, bits)


def _wholes(value: Expression, ctype: CType) -> Iterator[Expression]:
    """An integer at a width that instructions convert: an unsigned one of 32 bits fits into 64."""
    if value.bits < 32:
        yield as_c_converts(value, ctype.signed, 32)
    elif value.bits == 32 and not ctype.signed:
        yield Conversion(Change.ZERO_EXTENDED, value, 64)
        yield value
    else:
        yield value


def _truncations(value: Expression, wanted: CType) -> Iterator[Expression]:
    if wanted.bits < 32:
        yield Conversion(Change.TRUNCATED, Conversion(Change.TO_SIGNED, value, 32), wanted.bits)
        return
    whole = Conversion(Change.TO_SIGNED, value, wanted.bits)
    if wanted.bits == 64:
        yield whole
        return
    low = Conversion(Change.TRUNCATED, Conversion(Change.TO_SIGNED, value, 64), 32)
    yield from (whole, low) if wanted.signed else (low, whole)


# -- constants of the code ------------------------------------------------------------------------


def constants_of(question: Question) -> tuple[float, ...]:
    """Those in the code of both functions, and the usual ones."""
    found = [number for function in (question.target, question.rewrite) for number in _in_code(function)]
    return tuple(dict.fromkeys([*[*dict.fromkeys(found)][:MOST_OF_CODE], *USUAL]))


def _in_code(function: Function) -> Iterable[float]:
    for block in function.blocks.values():
        for op in block.ops:
            for var in op.ins:
                if var.space is MicroOpSpace.CONST:
                    yield from _numbers(function, var.offset, var.size)


def _numbers(function: Function, value: int, size: int) -> Iterator[float]:
    """What a constant, or the read-only data at that address, is as a number."""
    data = [function.image.constant_bytes(value, n) for n in (8, 4)] if size == 8 else []
    patterns = [(int.from_bytes(one, function.machine.byte_order), len(one)) for one in data if one is not None]
    for bits, width in (*patterns, *(((value, size),) if size in (4, 8) else ())):
        number = abs(to_float(bits, width))
        if _LEAST < number < _MOST and len(repr(number)) < 20:
            yield number
