"""What to build to test each rewriting rule: expressions of one width, to which the rule applies and others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bitwuzla import Term
from expressions import (
    Expression,
    apply,
    conj,
    constant,
    disj,
    eq,
    exclusive,
    flag,
    ite,
    lshr,
    negate,
    nonzero,
    sdiv,
    shl,
    sle,
    slt,
    srem,
    udiv,
    ule,
    ult,
    urem,
    variable,
)

from isoform.smt.rules import sums
from isoform.smt.terms import Terms

WIDTHS = (4, 8)
Expressions = Iterator[Expression]


def x(width: int) -> Expression:
    return variable("x", width)


def y(width: int) -> Expression:
    return variable("y", width)


def z(width: int) -> Expression:
    return variable("z", width)


def c() -> Expression:
    return eq(variable("c", 1), constant(1, 1))


def d() -> Expression:
    return eq(variable("d", 1), constant(1, 1))


def constants(width: int) -> Iterator[Expression]:
    """All of them, but at 8 bits only those around powers of two and a few others."""
    edges = {e + k for e in (0, 1, 2, 4, 8, 16, 32, 64, 128, 256) for k in (-1, 0, 1)} | {10, 100, 0x55, 0xAA, 0x3C}
    for value in range(1 << width):
        if width <= 4 or value in edges:
            yield constant(value, width)


def parts(whole: Expression) -> Expressions:
    """Parts of a term, all of them if it is narrow."""
    for high in range(whole.width):
        for low in range(high + 1):
            if whole.width <= 7 or {high % 8, low % 8} <= {0, 3, 7}:
                yield whole.part(high, low)


def either_order(
    operator: Callable[[Expression, Expression], Expression], one: Expression, other: Expression
) -> Expressions:
    yield operator(one, other)
    yield operator(other, one)


def multipliers(width: int) -> Iterator[int]:
    """All of them; where these are many, those around powers of two, and some of those of half the width and of all."""
    some = {(1 << bits) + k for bits in range(1, width) for k in (-1, 0, 1)}
    some |= {*range(1, 1 << (width // 2), 7), *range(1, 1 << width, 4093)}
    yield from (m for m in range(1, 1 << width) if width <= 9 or m in some)


def products(width: int) -> Expressions:
    """High bits of products, by every multiplier and every shift: of those that wrap too, which are no quotients."""
    wide = 2 * width + 1
    for multiplier in multipliers(wide):
        product = x(width).zext(wide) * constant(multiplier, wide)
        yield from (product.part(wide - 1, low) for low in range(width, wide))


def halved_sums(width: int) -> Expressions:
    for multiplier in multipliers(2 * width):
        product = x(width).zext(2 * width) * constant(multiplier, 2 * width)
        high = product.part(2 * width - 1, width)
        total = high + lshr(x(width) - high, constant(1, width))
        yield from (total.part(width - 1, low) for low in range(1, width))


def floors(width: int) -> Iterator[tuple[Expression, Expression]]:
    """High bits of a signed product, or of x plus those of a product with a negative multiplier; and the product."""
    wide = 2 * width
    for multiplier in multipliers(wide):
        product = x(width).sext(wide) * constant(multiplier, wide)
        negative = x(width).sext(wide) * constant(multiplier - (1 << width), wide)
        total = negative.part(wide - 1, width) + x(width)
        for low in range(width - 1):
            yield product.part(wide - 1, width + low).sext(width), product
            yield total.part(width - 1, low).sext(width), total


def negated_floors(width: int) -> Iterator[tuple[Expression, Expression]]:
    """The same with the opposite multiplier, and the high half of a product less x."""
    wide = 2 * width
    for multiplier in multipliers(wide):
        product = x(width).sext(wide) * constant(-multiplier, wide)
        total = (x(width).sext(wide) * constant(multiplier, wide)).part(wide - 1, width) - x(width)
        for low in range(width - 1):
            yield product.part(wide - 1, width + low).sext(width), product
            yield total.part(width - 1, low).sext(width), total


def sign(term: Expression) -> Expression:
    return term.part(term.width - 1, term.width - 1)


def raised(width: int) -> Expressions:
    for floor, product in floors(width):
        yield floor + sign(product).zext(width)
        yield sign(x(width)).zext(width) + floor
    for floor, product in negated_floors(width):
        yield floor + sign(product).zext(width)
        yield floor + sign(x(width)).zext(width)


def rounded(width: int) -> Expressions:
    for floor, _ in (*floors(width), *negated_floors(width)):
        yield floor - sign(x(width)).sext(width)
        yield sign(x(width)).sext(width) - floor


def thread_pointer(width: int) -> Expressions:
    thread = z(width)

    def build(terms: Terms, t: Term, left: Term, right: Term) -> Term:
        found = sums.without_thread_pointer(terms, t, left, right)
        assert found is not None
        return found

    for left, right in ((thread + x(width), y(width) - thread), (y(width) - thread, x(width) + thread)):
        yield apply(build, lambda t, a, b: a + b, thread, left, right)


def below_zeros(width: int, upper: Callable[[int], Expression]) -> Expressions:
    """Something with zeros below it, and in their place what fits and what does not."""
    for zeros in range(1, width):
        for low in range(1, min(width, zeros + 2)):
            yield from either_order(Expression.__or__, upper(zeros), y(low).zext(width + zeros))
        for number in (1, (1 << zeros) - 1, 1 << zeros):
            yield from either_order(Expression.__or__, upper(zeros), constant(number, width + zeros))


def each_equals_constants(*wholes: Expression) -> Expressions:
    yield from (eq(whole, number) for whole in wholes for number in constants(whole.width))


def divisions(width: int) -> Expressions:
    for operator in (udiv, urem, sdiv, srem):
        for number in constants(width):
            yield operator(x(width), number)
            yield operator(number, x(width))


def constant_pairs(operator: Callable[[Expression, Expression], Expression], width: int) -> Expressions:
    yield from (operator(k, m) for k in constants(width) for m in constants(width))


def narrow_operands(operators: tuple[Callable[[Expression, Expression], Expression], ...], width: int) -> Expressions:
    """Operands that were extended, and constants beside them."""
    wide = width + 2
    for operator in operators:
        for extend in (Expression.zext, Expression.sext):
            yield operator(extend(x(width), wide), extend(y(width), wide))
            yield operator(x(width).zext(wide), y(width).sext(wide))
            for number in constants(wide):
                yield from either_order(operator, extend(x(width), wide), number)


def rotated_products(width: int) -> Expressions:
    """x·i + c, rotated right and compared with a number: as compilers write tests of a remainder, and beside it."""
    numbers = 1 << width
    for odd in range(3, numbers, 2) if width <= 4 else (3, 5, 7, 25, 37, 127, 129, 253):
        inverse = pow(odd, -1, numbers)
        for rotation in (0, 1, 2):
            divisor = odd << rotation
            for remainder in {0, 1, divisor // 2, divisor - 1, -(numbers // 2 // divisor * divisor)}:
                product = x(width) * constant(inverse, width) + constant(-remainder * inverse, width)
                term = product.part(rotation - 1, 0).above(product.part(width - 1, rotation)) if rotation else product
                last = (numbers - 1 - max(remainder, 0)) // divisor
                for bound in {last, last - 1, last + 1, numbers // 2 // divisor + (numbers // 2 - 1) // divisor}:
                    yield ule(term, constant(bound, width))
                    yield ult(term, constant(bound + 1, width))


def orders(width: int) -> Expressions:
    """Less or equal, as two conditions; the equality also in the other forms that it gets beside a constant."""
    pairs = [(x(width), y(width)), (y(width), x(width))]
    for whole in (x(width) + constant(3, width), x(width).above(y(2)), -x(width)):
        pairs += [pair for number in constants(whole.width) for pair in ((whole, number), (number, whole))]
    for less in (ult, slt):
        for one, other in pairs:
            for first, second in ((eq(one, other), less(one, other)), (less(one, other), eq(other, one))):
                yield disj(first, second)
                yield conj(negate(first), negate(second))


CASES: dict[str, Callable[[int], Expressions]] = {
    "conditions.absorbed": lambda w: iter(
        conj(conj(c(), d()), k) for k in (c(), d(), negate(c()), negate(d()), ult(x(w), y(w)))
    ),
    "conditions.other_order": orders,
    "conditions.merged_paths": lambda w: iter(
        (
            disj(conj(ult(x(w), y(w)), c()), conj(ult(x(w), y(w)), negate(c()))),
            disj(conj(ult(x(w), y(w)), c()), conj(ult(x(w), y(w)), d())),
            disj(conj(c(), d()), c()),
            disj(c(), conj(c(), d())),
            disj(conj(c(), d()), d()),
        )
    ),
    "conditions.exclusive_cancels": lambda w: iter(
        outer for k in (c(), d(), ult(x(w), y(w))) for outer in either_order(exclusive, exclusive(c(), d()), k)
    ),
    "conditions.choice_made_before": lambda w: iter(
        (
            ite(c(), ite(c(), x(w), constant(3, w)), y(w)),
            ite(c(), x(w), ite(c(), constant(3, w), y(w))),
            ite(negate(c()), x(w), ite(c(), constant(3, w), y(w))),
            ite(c(), ite(d(), x(w), constant(3, w)), y(w)),
        )
    ),
    "cutting.part": lambda w: parts(x(w).above(y(w))),
    "cutting.part_of_top": lambda w: parts(x(w).above(y(w))),
    "cutting.part_of_bottom": lambda w: parts(x(w).above(y(w))),
    "cutting.part_of_both": lambda w: parts(x(w).above(y(w))),
    "cutting.part_of_shifted": lambda w: (
        part
        for top in (x(w), x(w).zext(w + 2), x(w) + y(w))
        for zeros in (1, 2, w)
        for part in parts(top.above(constant(0, zeros)))
    ),
    "cutting.part_of_part": lambda w: (
        inner for high in range(w) for low in range(high + 1) for inner in parts(x(w).part(high, low))
    ),
    "cutting.zeros_above": lambda w: parts(x(w).zext(w + 3)),
    "cutting.part_below_zeros": lambda w: parts(x(w).zext(w + 3)),
    "cutting.part_with_zeros": lambda w: parts(x(w).zext(w + 3)),
    "cutting.part_below_sign": lambda w: parts(x(w).sext(w + 3)),
    "cutting.part_with_sign": lambda w: parts(x(w).sext(w + 3)),
    "cutting.part_of_bitwise": lambda w: (
        part for whole in (x(w) & y(w), x(w) | y(w), x(w) ^ y(w)) for part in parts(whole)
    ),
    "cutting.part_of_complement": lambda w: parts(~x(w)),
    "cutting.low_part_of_sum": lambda w: (
        part for whole in (x(w) + y(w), x(w) + constant(5, w)) for part in parts(whole)
    ),
    "cutting.low_part_of_difference": lambda w: parts(x(w) - y(w)),
    "cutting.low_part_of_product": lambda w: (
        part for whole in (x(w) * y(w), x(w) * constant(11, w)) for part in parts(whole)
    ),
    "cutting.low_part_of_negative": lambda w: parts(-x(w)),
    **{
        f"cutting.{name}": lambda w: (
            part for k in range(1, w) for part in parts(shl(x(w) + constant(5, w), constant(k, w)))
        )
        for name in ("zeros_below", "part_above_zeros", "low_part_of_scaled", "part_with_zeros_below")
    },
    "cutting.part_of_choice": lambda w: (
        part
        for whole in (
            ite(c(), constant(6, w), x(w)),
            ite(c(), x(w), constant(9, w)),
            ite(c(), constant(6, w), ite(d(), x(w), constant(3, w))),
            ite(c(), ite(d(), x(w), constant(3, w)), ite(ult(x(w), constant(5, w)), constant(1, w), constant(2, w))),
            ite(c(), ite(d(), x(w), constant(3, w)), constant(7, w)),
        )
        for part in parts(whole)
    ),
    "joining.neighbouring_parts": lambda w: (
        x(w).part(high, middle).above(x(w).part(below, low))
        for high in range(w)
        for middle in range(high + 1)
        for below in range(w)
        for low in range(below + 1)
        if w <= 4 or below in (middle - 1, middle)
    ),
    "joining.spread_sign_above": lambda w: iter(
        sign(bit).sext(k).above(x(w)) for k in (1, 2, w) for bit in (x(w), y(w))
    ),
    "joining.rest_of_extension": lambda w: (
        extended.part(high, low).above(x(w))
        for extended in (x(w).sext(w + 3), x(w).zext(w + 3), y(w).sext(w + 3))
        for low in (w - 1, w, w + 1)
        for high in range(low, w + 3)
    ),
    "joining.joined_choices": lambda w: iter(
        ite(c(), constant(1, 2), constant(2, 2)).above(ite(condition, x(w), constant(5, w)))
        for condition in (c(), d(), negate(c()))
    ),
    "joining.zeros_above_zeros": lambda w: iter((x(w).zext(w + 1).zext(w + 3),)),
    "joining.zeros_above_constants": lambda w: iter((ite(c(), constant(-1, w), constant(3, w)).zext(w + 3),)),
    "joining.sign_above_sign": lambda w: iter((x(w).sext(w + 1).sext(w + 3),)),
    "joining.sign_above_zeros": lambda w: iter((x(w).zext(w + 1).sext(w + 3),)),
    "joining.sign_above_constants": lambda w: iter((ite(c(), constant(-1, w), constant(3, w)).sext(w + 3),)),
    "sums.opposites_cancel": lambda w: either_order(Expression.__add__, -x(w), x(w)),
    "sums.plus_opposite": lambda w: (
        total for one in (x(w), -x(w), x(w) - y(w)) for total in either_order(Expression.__add__, one, -y(w))
    ),
    "sums.subtrahend_added_back": lambda w: (
        total for one in (x(w), y(w)) for total in either_order(Expression.__add__, x(w) - y(w), one)
    ),
    "sums.without_thread_pointer": lambda w: thread_pointer(w) if w <= 4 else iter(()),
    "sums.summand_taken_away": lambda w: iter(
        outer for one in (x(w), y(w)) for outer in either_order(Expression.__sub__, x(w) + y(w), one)
    ),
    "sums.difference_taken_away": lambda w: iter(
        outer for one in (x(w), y(w)) for outer in either_order(Expression.__sub__, one, x(w) - y(w))
    ),
    "sums.opposite_of_quotient": lambda w: rounded(WIDTHS[0]),
    "sums.opposite_of_opposite": lambda w: iter((Expression.__neg__(-x(w)),)),
    "sums.opposite_of_difference": lambda w: iter((-(x(w) - y(w)),)),
    "sums.opposite_of_sum": lambda w: (-(x(w) + number) for number in constants(w)),
    "bits.run_of_ones": lambda w: (
        outer for k in range(1 << w) for outer in either_order(Expression.__and__, x(w), constant(k, w))
    ),
    "bits.and_of_flags": lambda w: iter((flag(c(), w) & flag(d(), w), flag(negate(c()), w) & flag(d(), w))),
    "bits.chosen_by_mask": lambda w: iter(
        outer
        for mask in (ite(c(), constant(-1, w), constant(0, w)), ite(c(), constant(0, w), constant(-1, w)))
        for outer in either_order(Expression.__and__, mask, x(w))
    ),
    "bits.or_below_zeros": lambda w: below_zeros(w, lambda k: x(w).above(constant(0, k))),
    "bits.or_below_extended_zeros": lambda w: below_zeros(w, lambda k: x(w - 1).above(constant(0, k)).zext(w + k)),
    "bits.or_below_scaled": lambda w: below_zeros(w, lambda k: shl(x(w + k) + constant(3, w + k), constant(k, w + k))),
    "bits.or_of_flags": lambda w: iter((flag(c(), w) | flag(d(), w), flag(negate(c()), w) | flag(d(), w))),
    "bits.one_or_the_other": lambda w: (
        outer
        for one in (ite(c(), x(w), constant(0, w)), ite(c(), constant(0, w), x(w)))
        for other in (ite(c(), y(w), constant(0, w)), ite(c(), constant(0, w), y(w)), ite(d(), constant(0, w), y(w)))
        for outer in either_order(Expression.__or__, one, other)
        if w <= 4
    ),
    "bits.exclusive_or_of_flags": lambda w: iter((flag(c(), w) ^ flag(d(), w), flag(negate(c()), w) ^ flag(d(), w))),
    "bits.in_one_order": lambda w: iter(
        (
            x(w) ^ y(w),
            (x(w) ^ y(w)) ^ x(w),
            (x(w) ^ constant(5, w)) ^ (~y(w) ^ x(w)),
            (x(w) ^ constant(5, w)) ^ (y(w) ^ constant(5, w)),
            (~x(w) ^ y(w)) ^ (x(w) ^ y(w)),
            (x(w) ^ y(w)) ^ constant(-1, w),
        )
    ),
    "bits.complement_of_complement": lambda w: iter((~~x(w),)),
    "bits.complement_of_choice": lambda w: iter((~ite(c(), constant(3, w), constant(-2, w)),)),
    "flags.flag_condition": lambda w: (
        nonzero(whole)
        for whole in (
            flag(c(), w),
            ite(c(), constant(0, w), constant(1, w)),
            ite(c(), constant(2, w), constant(0, w)),
            *constants(w),
            x(w),
        )
    ),
    "comparisons.same_base": lambda w: (
        (eq(x(w) + one, base + other) for one in constants(w) for other in constants(w) for base in (x(w), y(w)))
        if w <= 4
        else iter((eq(x(w) + constant(3, w), x(w)), eq(x(w) + constant(3, w), x(w) + constant(4, w))))
    ),
    "comparisons.choice_of_constants_equals": lambda w: each_equals_constants(
        ite(c(), constant(3, w), constant(8, w)), flag(c(), w)
    ),
    "comparisons.choice_equals": lambda w: each_equals_constants(
        ite(c(), constant(3, w), x(w)), ite(c(), x(w), constant(3, w))
    ),
    "comparisons.zero_extended_equals": lambda w: each_equals_constants(x(w).zext(w + 1)),
    "comparisons.sum_equals": lambda w: each_equals_constants(*(x(w) + constant(k, w) for k in (1, 5, -3))),
    "comparisons.difference_equals_zero": lambda w: each_equals_constants(x(w) - y(w)),
    "comparisons.negative_equals": lambda w: each_equals_constants(-x(w)),
    "comparisons.complement_equals": lambda w: each_equals_constants(~x(w)),
    "comparisons.exclusive_or_equals_zero": lambda w: each_equals_constants(x(w) ^ y(w), x(w) ^ constant(5, w)),
    "comparisons.joined_equals": lambda w: each_equals_constants(x(w).above(y(2))),
    "comparisons.constants_unsigned_less": lambda w: constant_pairs(ult, w),
    "comparisons.less_than_least": lambda w: (compare(x(w), k) for k in constants(w) for compare in (ult, ule)),
    "comparisons.least_less_than": lambda w: (compare(k, x(w)) for k in constants(w) for compare in (ult, ule)),
    "comparisons.narrow_unsigned_less": lambda w: narrow_operands((ult, ule), w),
    "comparisons.constants_signed_less": lambda w: constant_pairs(slt, w),
    "comparisons.narrow_signed_less": lambda w: narrow_operands((slt, sle), w),
    "division.unsigned_constants": lambda w: (
        outer for operator in (udiv, urem) for outer in constant_pairs(operator, w)
    ),
    "division.unsigned_remainder_by_quotient": divisions,
    "division.by_power_of_two": divisions,
    "division.narrow_unsigned_division": lambda w: narrow_operands((udiv, urem), w),
    "division.signed_constants": lambda w: (
        outer for operator in (sdiv, srem) for outer in constant_pairs(operator, w)
    ),
    "division.signed_remainder_by_quotient": divisions,
    "division.narrow_signed_division": lambda w: narrow_operands((sdiv, srem), w),
    "divisibility.rotated_product_at_most": rotated_products,
    "quotient.high_bits_as_quotient": products,
    "quotient.halved_sum_as_quotient": halved_sums,
    "quotient.raised_as_quotient": raised,
    "quotient.rounded_as_quotient": rounded,
}
