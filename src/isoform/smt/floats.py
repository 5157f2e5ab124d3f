"""Floating point in formulas.

An operation is first an uninterpreted function of the bits of its operands, `float-add-64(a, b)`: two sides that do the
same to the same numbers agree whatever the function is, and the solver sees that at once. If that is not enough, each
application gets its definition in the SMT theory of floating point (`float_definitions.py`). Comparisons and the test
for NaN are plain formulas over the bits and need no theory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from bitwuzla import Kind as K  # noqa: N817 (as in terms.py)

from isoform.model.evaluate import evaluate
from isoform.model.evaluate_floats import canonical_nan, infinity, is_nan, quiet_bit, sign_bit, to_bits, to_float
from isoform.model.microop import ROUNDING_MODES, Kind
from isoform.model.values import dataclass
from isoform.smt.shapes import Choice, Or, Xor
from isoform.smt.terms import Term, Terms

_SIZES = (4, 8)


@dataclass(frozen=True)
class FloatOperation:
    """One of the uninterpreted functions, and what it stands for."""

    name: str
    kind: Kind
    out: int
    """Sizes in bytes."""
    sizes: tuple[int, ...]
    constants: tuple[int, ...] = ()
    """Operands after the symbolic ones."""

    def on_numbers(self, values: Sequence[int]) -> int:
        constants = self.constants
        return evaluate(self.kind, self.out, [*self.sizes, *(1 for _ in constants)], [*values, *constants])


def _operations() -> Iterator[FloatOperation]:
    for size in _SIZES:
        bits = 8 * size
        for kind, word in ((Kind.FLOAT_ADD, "add"), (Kind.FLOAT_MUL, "multiply"), (Kind.FLOAT_DIV, "divide")):
            yield FloatOperation(f"float-{word}-{bits}", kind, size, (size, size))
        yield FloatOperation(f"float-root-{bits}", Kind.FLOAT_SQRT, size, (size,))
        for number, mode in enumerate(ROUNDING_MODES):
            yield FloatOperation(f"float-round-{mode}-{bits}", Kind.FLOAT_ROUND, size, (size,), (number,))
        for other in _SIZES:
            if other != size:
                yield FloatOperation(f"float-from-float-{8 * other}-{bits}", Kind.FLOAT_FROM_FLOAT, size, (other,))
            yield FloatOperation(f"float-from-integer-{8 * other}-{bits}", Kind.FLOAT_FROM_INT, size, (other,))
            yield FloatOperation(f"float-truncate-{bits}-{8 * other}", Kind.FLOAT_TO_INT, other, (size,))
            yield FloatOperation(f"float-to-nearest-{bits}-{8 * other}", Kind.FLOAT_ROUND_TO_INT, other, (size,))


_BY_NAME = {operation.name: operation for operation in _operations()}
_BY_SHAPE = {(o.kind, o.out, o.sizes, o.constants): o for o in _BY_NAME.values()}


def operation_of(term: Term) -> FloatOperation | None:
    """The operation that an application stands for; None for terms of any other kind."""
    if term.kind() != K.APPLY:
        return None
    function = term.children()[0]
    return _BY_NAME.get(function.symbol() or "") if function.is_const() else None


_PROPAGATE_NANS = frozenset(
    {Kind.FLOAT_ADD, Kind.FLOAT_MUL, Kind.FLOAT_DIV, Kind.FLOAT_SQRT, Kind.FLOAT_ROUND, Kind.FLOAT_FROM_FLOAT}
)
"""A NaN among the operands gives a NaN."""
_MOST_CHOICES = 12
"""How many nested choices are examined."""


# -- building ---------------------------------------------------------------------------------------


def is_nan_term(t: Terms, x: Term) -> Term:
    number = number_of(t, x)
    operation = operation_of(number)
    return t.false if operation is not None and operation.kind is Kind.FLOAT_FROM_INT else _is_nan(t, number)


def _is_nan(t: Terms, x: Term) -> Term:
    width = t.width(x)
    return t.ult(t.bv(infinity(width // 8), width - 1), _magnitude(t, x))


def number_of(t: Terms, x: Term) -> Term:
    """A term that is the same number as x, or some NaN if x is one: x without choices that only select among NaNs.
    Machines define which NaN results; what is computed from it does not depend on that."""
    found = t.float_numbers.get(x)
    if found is None:
        found, shape = x, t.shape(x)
        while isinstance(shape, Choice) and all(_is_nan_if(t, (shape.condition,), x) for x in shape.branches):
            found = shape.otherwise
            shape = t.shape(found)
        t.float_numbers[x] = found
    return found


def _is_nan_if(t: Terms, conditions: tuple[Term, ...], x: Term, depth: int = 0) -> bool:
    """Whether x is known to be a NaN if all the conditions hold."""
    number = t.value(x)
    if number is not None:
        return is_nan(number, t.width(x) // 8)
    if depth > _MOST_CHOICES:
        return False
    if _is_nan(t, x) in conditions:
        return True
    shape = t.shape(x)
    if isinstance(shape, Choice):
        narrower = (*conditions, shape.condition)
        if not _is_nan_if(t, narrower, shape.then, depth + 1):
            return False
        return _is_nan_if(t, conditions, shape.otherwise, depth + 1)
    if isinstance(shape, Or):
        # A NaN made quiet: one more bit of its payload is set.
        return t.value(shape.right) == quiet_bit(t.width(x) // 8) and _is_nan_if(t, conditions, shape.left, depth + 1)
    opposite, is_opposite = _without_sign(t, x)
    if is_opposite:
        return _is_nan_if(t, conditions, opposite, depth + 1)
    operation = operation_of(x)
    if operation is None or operation.kind not in _PROPAGATE_NANS:
        return False
    return any(is_nan_term(t, operand) in conditions for operand in x.children()[1:])


def equal(t: Terms, x: Term, y: Term) -> Term:
    x, y = number_of(t, x), number_of(t, y)
    zeros = t.conj(_is_zero(t, x), _is_zero(t, y))
    return t.conj(_ordered(t, x, y), t.disj(t.eq(x, y), zeros))


def less(t: Terms, x: Term, y: Term) -> Term:
    """Patterns of one sign are ordered as numbers, those of negative numbers in reverse."""
    x, y = number_of(t, x), number_of(t, y)
    a, b = _magnitude(t, x), _magnitude(t, y)
    zeros = t.conj(_is_zero(t, x), _is_zero(t, y))
    from_negative = _choice(t, _is_negative(t, y), t.ult(b, a), t.negate(zeros))
    from_positive = t.conj(t.negate(_is_negative(t, y)), t.ult(a, b))
    return t.conj(_ordered(t, x, y), _choice(t, _is_negative(t, x), from_negative, from_positive))


def less_or_equal(t: Terms, x: Term, y: Term) -> Term:
    return t.conj(_ordered(t, x, y), t.negate(less(t, y, x)))


def _choice(t: Terms, condition: Term, then: Term, otherwise: Term) -> Term:
    return t.disj(t.conj(condition, then), t.conj(t.negate(condition), otherwise))


def _magnitude(t: Terms, x: Term) -> Term:
    return t.extract(x, t.width(x) - 2, 0)


def _is_negative(t: Terms, x: Term) -> Term:
    top = t.width(x) - 1
    return t.eq(t.extract(x, top, top), t.bv(1, 1))


def _is_zero(t: Terms, x: Term) -> Term:
    return t.eq(_magnitude(t, x), t.bv(0, t.width(x) - 1))


def _ordered(t: Terms, x: Term, y: Term) -> Term:
    return t.conj(t.negate(is_nan_term(t, x)), t.negate(is_nan_term(t, y)))


def result(t: Terms, kind: Kind, width: int, values: Sequence[Term]) -> Term:
    """The bits of the result of an arithmetic operation or a conversion."""
    sizes = [t.width(value) // 8 for value in values]
    numbers = [t.value(value) for value in values]
    known = [number for number in numbers if number is not None]
    if len(known) == len(values):
        return t.bv(evaluate(kind, width // 8, sizes, known), width)
    if kind is not Kind.FLOAT_FROM_INT:
        values = [number_of(t, value) for value in values]
    by_cases = _by_cases(t, kind, width, values)
    if by_cases is not None:
        return by_cases
    if kind is Kind.FLOAT_SUB:
        # a - b = a + (-b), signs of zeros included.
        return result(t, Kind.FLOAT_ADD, width, [values[0], _negated(t, values[1])])
    if kind in (Kind.FLOAT_MUL, Kind.FLOAT_DIV):
        (left, flipped), (right, flipped_too) = (_without_sign(t, value) for value in values)
        if flipped or flipped_too:
            # Rounding to nearest knows no sign: (-a) * b = -(a * b), and the same for quotients.
            unsigned = result(t, kind, width, [left, right])
            return unsigned if flipped == flipped_too else _opposite(t, unsigned)
    if kind in (Kind.FLOAT_ADD, Kind.FLOAT_MUL):
        values = _in_order(t, values)
    simple = _SIMPLER[kind](t, width, values) if kind in _SIMPLER else None
    return simple if simple is not None else _applied(t, kind, width, values)


def _by_cases(t: Terms, kind: Kind, width: int, values: Sequence[Term]) -> Term | None:
    """f(c ? k : x) = c ? f(k) : f(x) where f(k) is a constant: compilers fold it on one side only."""
    for value in values:
        shape = t.shape(value)
        if not isinstance(shape, Choice) or _choices(t, value) > _MOST_CHOICES:
            continue
        cases = [[_in_case(t, shape.condition, holds, other) for other in values] for holds in (True, False)]
        if any(all(t.value(operand) is not None for operand in case) for case in cases):
            then, otherwise = (result(t, kind, width, case) for case in cases)
            return t.ite(shape.condition, then, otherwise)
    return None


def _choices(t: Terms, value: Term) -> int:
    """The number of nested choices, counted only as far as it matters."""
    count, shape = 0, t.shape(value)
    while isinstance(shape, Choice) and count <= _MOST_CHOICES:
        shape = next((s for s in map(t.shape, shape.branches) if isinstance(s, Choice)), None)
        count += 1
    return count


def _in_case(t: Terms, condition: Term, holds: bool, value: Term) -> Term:
    shape = t.shape(value)
    if not isinstance(shape, Choice) or shape.condition != condition:
        return value
    return shape.then if holds else shape.otherwise


def _applied(t: Terms, kind: Kind, width: int, values: Sequence[Term]) -> Term:
    symbolic = values[:1] if kind is Kind.FLOAT_ROUND else values
    constants = tuple(t.value(value) or 0 for value in values[len(symbolic) :])
    sizes = tuple(t.width(value) // 8 for value in symbolic)
    operation = _BY_SHAPE[kind, width // 8, sizes, constants]
    function = t.function_variable(operation.name, [t.sort(8 * size) for size in sizes], t.sort(width))
    t.uses_floats = True
    return t.apply(function, list(symbolic))


def _in_order(t: Terms, values: Sequence[Term]) -> Sequence[Term]:
    """Sums and products do not depend on the order of their operands; a constant goes last."""
    left, right = values
    if t.value(left) is not None or (t.value(right) is None and right.id() < left.id()):
        return right, left
    return left, right


def _negated(t: Terms, x: Term) -> Term:
    width = t.width(x)
    return t.xor_(x, t.bv(sign_bit(width // 8), width))


def _opposite(t: Terms, x: Term) -> Term:
    """A number with the other sign; a NaN as it is."""
    return t.ite(is_nan_term(t, x), x, _negated(t, x))


def _without_sign(t: Terms, x: Term) -> tuple[Term, bool]:
    """The term of which x is the negation, if it was built as one or is a negative constant, and whether it is one."""
    width = t.width(x)
    sign = sign_bit(width // 8)
    number, shape = t.value(x), t.shape(x)
    if number is not None:
        return (t.bv(number ^ sign, width), True) if number & sign else (x, False)
    is_opposite = isinstance(shape, Xor) and t.value(shape.right) == sign
    return (shape.left, True) if isinstance(shape, Xor) and is_opposite else (x, False)


def with_one_nan(t: Terms, x: Term) -> Term:
    """x with the same NaN for all NaNs."""
    x, width = number_of(t, x), t.width(x)
    operation = operation_of(x)
    if operation is not None and operation.kind in _PROPAGATE_NANS:
        return x  # by its definition
    return t.ite(is_nan_term(t, x), t.bv(canonical_nan(width // 8), width), x)


def with_any_nan(t: Terms, x: Term, choice: Term) -> Term:
    """x if it is a number, else any NaN: `choice` if that is one."""
    x, width = number_of(t, x), t.width(x)
    some = t.ite(_is_nan(t, choice), choice, t.bv(canonical_nan(width // 8), width))
    return t.ite(_is_nan(t, x), some, x)


def _simpler_sum(t: Terms, width: int, values: Sequence[Term]) -> Term | None:
    """x + (-0) = x, for zeros of both signs."""
    return with_one_nan(t, values[0]) if t.value(values[1]) == sign_bit(width // 8) else None


def _simpler_product(t: Terms, width: int, values: Sequence[Term]) -> Term | None:
    number = t.value(values[1])
    if number is None:
        return None
    size = width // 8
    if number == to_bits(2.0, size):
        # Both are twice the number, rounded once.
        return result(t, Kind.FLOAT_ADD, width, [values[0], values[0]])
    return with_one_nan(t, values[0]) if number == to_bits(1.0, size) else None


def _simpler_quotient(t: Terms, width: int, values: Sequence[Term]) -> Term | None:
    """Division by a power of two is multiplication by its inverse, if that can be written exactly."""
    number, size = t.value(values[1]), width // 8
    if number is None or not _is_finite(number, size) or to_float(number, size) == 0:
        return None
    inverse = to_bits(1.0 / to_float(number, size), size)
    if not _is_finite(inverse, size):
        return None
    (a, b), (c, d) = (to_float(bits, size).as_integer_ratio() for bits in (number, inverse))
    return result(t, Kind.FLOAT_MUL, width, [values[0], t.bv(inverse, width)]) if a * c == b * d else None


def _is_finite(bits: int, size: int) -> bool:
    return bits & ~sign_bit(size) < infinity(size)


_SIMPLER: dict[Kind, Callable[[Terms, int, Sequence[Term]], Term | None]] = {
    Kind.FLOAT_ADD: _simpler_sum,
    Kind.FLOAT_MUL: _simpler_product,
    Kind.FLOAT_DIV: _simpler_quotient,
}
