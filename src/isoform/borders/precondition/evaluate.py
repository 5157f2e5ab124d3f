"""Evaluating a precondition over any algebra."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic

from isoform.borders.precondition.algebra import Algebra, ConcreteAlgebra, Number, Truth, Value
from isoform.borders.precondition.tree import (
    DIVISIONS,
    SHIFTS,
    Choice,
    Comparison,
    Complement,
    Condition,
    Constant,
    Disjoint,
    Every,
    Indicator,
    Load,
    Name,
    Narrowed,
    Negation,
    Not,
    Operation,
    Operator,
    Range,
    Relation,
    Some,
    Term,
    Widened,
)
from isoform.model.values import dataclass


@dataclass(frozen=True)
class Precondition:
    text: str
    expression: Condition
    widths: tuple[tuple[str, int], ...] = ()
    """The parameters it speaks of and their widths in bits."""
    reads_memory: bool = False

    def evaluate(self, algebra: Algebra[Value, Truth], environment: Mapping[str, Value]) -> Truth:
        """Whether it holds, given each parameter's value at its own width."""
        return _Evaluation(algebra, environment).holds(self.expression)

    def holds(self, values: Mapping[str, int], load: Callable[[int, int], int] | None = None) -> bool:
        """The same for one concrete input. `load(address, size)` gives memory at entry as an unsigned number."""
        environment = {name: Number(values[name] & ((1 << bits) - 1), bits) for name, bits in self.widths}
        return self.evaluate(ConcreteAlgebra(load), environment)


class _Evaluation(Generic[Value, Truth]):
    """Every method gives what it computes and the condition under which that has a value (None: always)."""

    def __init__(self, algebra: Algebra[Value, Truth], environment: Mapping[str, Value]) -> None:
        self._algebra = algebra
        self._environment = environment
        self._operations: dict[Operator, Callable[[Value, Value], Value]] = {
            Operator.ADD: algebra.add,
            Operator.SUB: algebra.sub,
            Operator.MUL: algebra.mul,
            Operator.UDIV: algebra.udiv,
            Operator.SDIV: algebra.sdiv,
            Operator.UREM: algebra.urem,
            Operator.SREM: algebra.srem,
            Operator.AND: algebra.and_,
            Operator.OR: algebra.or_,
            Operator.XOR: algebra.xor,
            Operator.SHL: algebra.shl,
            Operator.LSHR: algebra.lshr,
            Operator.ASHR: algebra.ashr,
        }
        self._relations: dict[Relation, Callable[[Value, Value], Truth]] = {
            Relation.EQUAL: algebra.equal,
            Relation.ULT: algebra.ult,
            Relation.ULE: algebra.ule,
            Relation.SLT: algebra.slt,
            Relation.SLE: algebra.sle,
        }

    def holds(self, condition: Condition) -> Truth:
        truth, defined = self._condition(condition)
        return truth if defined is None else self._algebra.conj(defined, truth)

    def _condition(self, node: Condition) -> tuple[Truth, Truth | None]:
        match node:
            case Comparison(relation, left, right):
                first, first_defined = self._term(left)
                second, second_defined = self._term(right)
                return self._relations[relation](first, second), self._both(first_defined, second_defined)
            case Not(part):
                truth, defined = self._condition(part)
                return self._algebra.negate(truth), defined
            case Every(parts):
                return self._sequence(parts, self._algebra.conj, lambda so_far: so_far)
            case Some(parts):
                return self._sequence(parts, self._algebra.disj, self._algebra.negate)
            case Disjoint(left, right):
                return self._disjoint(left, right)

    def _sequence(
        self, parts: tuple[Condition, ...], join: Callable[[Truth, Truth], Truth], goes_on: Callable[[Truth], Truth]
    ) -> tuple[Truth, Truth | None]:
        """`goes_on` says of the parts so far whether the next one is evaluated."""
        truth, defined = self._condition(parts[0])
        for part in parts[1:]:
            following, following_defined = self._condition(part)
            defined = self._both(defined, self._where(goes_on(truth), following_defined))
            truth = join(truth, following)
        return truth, defined

    def _both(self, left: Truth | None, right: Truth | None) -> Truth | None:
        if left is None or right is None:
            return right if left is None else left
        return self._algebra.conj(left, right)

    def _where(self, guard: Truth, defined: Truth | None) -> Truth | None:
        return None if defined is None else self._algebra.disj(self._algebra.negate(guard), defined)

    def _term(self, node: Term) -> tuple[Value, Truth | None]:
        algebra = self._algebra
        match node:
            case Constant(number, bits):
                return algebra.constant(number, bits), None
            case Name(name, _):
                return self._environment[name], None
            case Operation():
                return self._operation(node)
            case Choice():
                return self._choice(node)
            case Indicator(condition):
                truth, defined = self._condition(condition)
                return algebra.ite(truth, algebra.constant(1, 32), algebra.constant(0, 32)), defined
            case Complement(operand):
                value, defined = self._term(operand)
                return algebra.not_(value), defined
            case Negation(operand):
                value, defined = self._term(operand)
                return algebra.neg(value), defined
            case Widened(operand, bits, signed):
                value, defined = self._term(operand)
                return (algebra.sign_extend if signed else algebra.zero_extend)(value, bits), defined
            case Narrowed(operand, bits):
                value, defined = self._term(operand)
                return algebra.extract(value, bits - 1, 0), defined
            case Load(address, size):
                value, defined = self._term(address)
                return algebra.load(value, size), defined

    def _operation(self, node: Operation) -> tuple[Value, Truth | None]:
        left, left_defined = self._term(node.left)
        right, right_defined = self._term(node.right)
        defined = self._both(self._both(left_defined, right_defined), self._has_value(node, right))
        return self._operations[node.operator](left, right), defined

    def _has_value(self, node: Operation, right: Value) -> Truth | None:
        algebra = self._algebra
        if node.operator in DIVISIONS and not (isinstance(node.right, Constant) and node.right.value):
            return algebra.negate(algebra.equal(right, algebra.constant(0, node.bits)))
        in_range = isinstance(node.right, Constant) and node.right.value < node.bits
        if node.operator in SHIFTS and not in_range:
            return algebra.ult(right, algebra.constant(node.bits, node.bits))
        return None

    def _choice(self, node: Choice) -> tuple[Value, Truth | None]:
        condition, defined = self._condition(node.condition)
        yes, yes_defined = self._term(node.yes)
        no, no_defined = self._term(node.no)
        defined = self._both(defined, self._where(condition, yes_defined))
        defined = self._both(defined, self._where(self._algebra.negate(condition), no_defined))
        return self._algebra.ite(condition, yes, no), defined

    def _disjoint(self, left: Range, right: Range) -> tuple[Truth, Truth | None]:
        if left.base_bits == right.base_bits and left.starts_at_base and right.starts_at_base:
            return self._disjoint_from_base(left, right)
        algebra = self._algebra
        bits = max(left.exact_bits(), right.exact_bits())
        left_low, left_high, left_defined = self._ends(left, bits)
        right_low, right_high, right_defined = self._ends(right, bits)
        left_empty, right_empty = algebra.sle(left_high, left_low), algebra.sle(right_high, right_low)
        apart = algebra.disj(algebra.sle(left_high, right_low), algebra.sle(right_high, left_low))
        truth = algebra.disj(algebra.disj(left_empty, right_empty), apart)
        for buffer, low, high, empty in (
            (left, left_low, left_high, left_empty),
            (right, right_low, right_high, right_empty),
        ):
            first = algebra.sle(algebra.constant(0, bits), low)
            last = algebra.sle(high, algebra.constant(1 << buffer.base_bits, bits))
            truth = algebra.conj(truth, algebra.disj(empty, algebra.conj(first, last)))
        return truth, self._both(left_defined, right_defined)

    def _disjoint_from_base(self, left: Range, right: Range) -> tuple[Truth, Truth | None]:
        """The same in no more bits than an address has, which solvers find far easier. Of ranges that are not empty and
        do not go beyond the last address, neither has a byte in the other if and only if neither begins in the other:
        less than its length after its first address, going round at the end of all addresses or not."""
        algebra = self._algebra
        found = [self._extent(buffer) for buffer in (left, right)]
        (base, last, empty, inside, defined), (other_base, other_last, other_empty, other_inside, other_defined) = found
        apart = algebra.conj(
            algebra.ult(last, algebra.sub(other_base, base)), algebra.ult(other_last, algebra.sub(base, other_base))
        )
        truth = algebra.disj(algebra.disj(empty, other_empty), apart)
        truth = algebra.conj(truth, algebra.disj(empty, inside))
        truth = algebra.conj(truth, algebra.disj(other_empty, other_inside))
        return truth, self._both(defined, other_defined)

    def _extent(self, buffer: Range) -> tuple[Value, Value, Truth, Truth, Truth | None]:
        """Of a range that starts at its base: the base, how far from it the last byte is, whether there is none, and
        whether all of it are addresses."""
        algebra, bits, index = self._algebra, buffer.base_bits, buffer.high
        base, defined = self._term(buffer.base)
        count, count_defined = self._term(index.term)
        if index.bits < bits:
            count = (algebra.sign_extend if index.signed else algebra.zero_extend)(count, bits)
        zero = algebra.constant(0, bits)
        empty = algebra.sle(count, zero) if index.signed else algebra.equal(count, zero)
        # As many elements as fit have at most 2^bits bytes: then this does not overflow, even if it is all of them.
        length = algebra.mul(count, algebra.constant(buffer.element, bits))
        last = algebra.sub(length, algebra.constant(1, bits))
        inside = algebra.ule(base, algebra.add(base, last))
        most = (1 << bits) // buffer.element
        if most < 1 << index.bits:
            inside = algebra.conj(inside, algebra.ule(count, algebra.constant(most, bits)))
        return base, last, empty, inside, self._both(defined, count_defined)

    def _ends(self, buffer: Range, bits: int) -> tuple[Value, Value, Truth | None]:
        """First and past-the-last address as signed numbers that cannot overflow."""
        algebra = self._algebra
        base, defined = self._term(buffer.base)
        base = algebra.zero_extend(base, bits)
        ends = []
        for index in (buffer.low, buffer.high):
            value, index_defined = self._term(index.term)
            defined = self._both(defined, index_defined)
            wide = (algebra.sign_extend if index.signed else algebra.zero_extend)(value, bits)
            ends.append(algebra.add(base, algebra.mul(wide, algebra.constant(buffer.element, bits))))
        return ends[0], ends[1], defined
