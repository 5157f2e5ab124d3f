"""Shifts and rotates of x86-64, including what depends on the count: a masked count of 0 keeps every flag, OF is
defined for a count of 1 only, and CF of `shl`/`shr` is undefined for counts from the operand's width on."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.flags import CF, OF, PF, SF, ZF, parity
from isoform.isa.x86_64.integer import Semantics, width
from isoform.isa.x86_64.operands import ImmediateOperand, NoSemanticsError, Operand, Register
from isoform.model.microop import Kind, Space, Var, const


class Count:
    """A shift count: a number, or a value known only at run time; masked as the machine does."""

    def __init__(self, b: Builder, operand: Operand, size: int) -> None:
        self._b = b
        self._limit = 63 if size == 8 else 31
        self._is_zero: Var | None = None
        if isinstance(operand, ImmediateOperand):
            self.value: Var = const(operand.value & self._limit, 1)
        elif isinstance(operand, Register):
            self.value = b.and_(b.read(operand, 1), self._limit)
        else:
            raise NoSemanticsError

    @property
    def number(self) -> int | None:
        return self.value.offset if self.value.space is Space.CONST else None

    def when_zero(self, then: Var, otherwise: Callable[[], Var]) -> Var:
        if self.number is not None:
            return then if self.number == 0 else otherwise()
        if self._is_zero is None:
            self._is_zero = self._b.equal(self.value, 0)
        return self._b.select(self._is_zero, then, otherwise())

    def when_one(self, then: Callable[[], Var], otherwise: Callable[[], Var]) -> Var:
        if self.number is not None:
            return then() if self.number == 1 else otherwise()
        return self._b.select(self._b.equal(self.value, 1), then(), otherwise())

    def when_at_least(self, bound: int, then: Callable[[], Var], otherwise: Callable[[], Var]) -> Var:
        if self.number is not None:
            return then() if self.number >= bound else otherwise()
        if bound > self._limit:
            return otherwise()
        return self._b.select(self._b.below(self.value, bound), otherwise(), then())

    def before(self) -> Var:
        """The count minus one: how far the last bit shifted out was from the edge."""
        if self.number is not None:
            return const(max(self.number - 1, 0), 1)
        return self._b.sub(self.value, 1)

    def modulo(self, divisor: int) -> Var:
        if self.number is not None:
            return const(self.number % divisor, 1)
        return self._b.divide(Kind.INT_REM, self.value, const(divisor, 1))


def _set(b: Builder, count: Count, flag: Var, value: Callable[[], Var]) -> None:
    """A flag that is kept if the masked count is 0."""
    if count.number != 0:
        b.set(flag, count.when_zero(flag, value))


def _set_result_flags(b: Builder, count: Count, result: Var) -> None:
    _set(b, count, SF, lambda: b.is_negative(result))
    _set(b, count, ZF, lambda: b.equal(result, 0))
    _set(b, count, PF, lambda: parity(b, result))


def _set_overflow(b: Builder, count: Count, by_one: Callable[[], Var]) -> None:
    _set(b, count, OF, lambda: count.when_one(by_one, b.undefined_boolean))


def shift_left(b: Builder, target: Operand, amount: Operand) -> None:
    size = width(target)
    value, count = b.read(target), Count(b, amount, size)
    result = b.shl(value, count.value)
    last = b.is_negative(b.shl(value, count.before()))
    _set(b, count, CF, lambda: count.when_at_least(8 * size, b.undefined_boolean, lambda: last))
    _set_overflow(b, count, lambda: b.exactly_one(b.is_negative(result), last))
    _set_result_flags(b, count, result)
    b.write(target, result)


def shift_right(b: Builder, target: Operand, amount: Operand) -> None:
    size = width(target)
    value, count = b.read(target), Count(b, amount, size)
    result = b.shr(value, count.value)
    last = _lowest_bit(b, b.shr(value, count.before()))
    _set(b, count, CF, lambda: count.when_at_least(8 * size, b.undefined_boolean, lambda: last))
    _set_overflow(b, count, lambda: b.is_negative(value))
    _set_result_flags(b, count, result)
    b.write(target, result)


def shift_right_signed(b: Builder, target: Operand, amount: Operand) -> None:
    value, count = b.read(target), Count(b, amount, width(target))
    result = b.sar(value, count.value)
    _set(b, count, CF, lambda: _lowest_bit(b, b.sar(value, count.before())))
    _set_overflow(b, count, lambda: b.boolean(False))
    _set_result_flags(b, count, result)
    b.write(target, result)


def _lowest_bit(b: Builder, value: Var) -> Var:
    return b.and_(b.piece(value, 0, 1), 1)


def _double_shift(left: bool) -> Semantics:
    """`shld`, `shrd`: bits of the source are shifted in. For 16 bits, a count above 16 leaves everything undefined."""

    def semantics(b: Builder, target: Operand, source: Register, amount: Operand) -> None:
        size = width(source)
        value, count = b.read(target, size), Count(b, amount, size)
        filling = b.read(source)
        if left:
            pair = b.join(filling, value)
            result = b.piece(b.shl(pair, count.value), size, size)
            last = b.is_negative(b.shl(value, count.before()))
        else:
            pair = b.join(value, filling)
            result = b.piece(b.shr(pair, count.value), 0, size)
            last = _lowest_bit(b, b.shr(value, count.before()))
        _finish_double_shift(b, target, value, count, result, last)

    return semantics


def _finish_double_shift(b: Builder, target: Operand, value: Var, count: Count, result: Var, last: Var) -> None:
    beyond = 8 * value.size + 1
    result = count.when_at_least(beyond, lambda: b.undefined(value.size), lambda: result)
    sign_changed = b.differ(b.is_negative(value), b.is_negative(result))

    def set_within(flag: Var, defined: Var) -> None:
        _set(b, count, flag, lambda: count.when_at_least(beyond, b.undefined_boolean, lambda: defined))

    set_within(CF, last)
    _set_overflow(b, count, lambda: sign_changed)
    set_within(SF, b.is_negative(result))
    set_within(ZF, b.equal(result, 0))
    set_within(PF, parity(b, result))
    b.write(target, result)


def rotate_left(b: Builder, target: Operand, amount: Operand) -> None:
    value, count = b.read(target), Count(b, amount, width(target))
    result = _rotated(b, value, count.value)
    carry = b.hold(_lowest_bit(b, result))
    _set(b, count, CF, lambda: carry)
    _set_overflow(b, count, lambda: b.exactly_one(b.is_negative(result), carry))
    b.write(target, result)


def rotate_right(b: Builder, target: Operand, amount: Operand) -> None:
    value, count = b.read(target), Count(b, amount, width(target))
    result = _rotated(b, value, b.sub(const(0, 1), count.value))
    carry = b.hold(b.is_negative(result))
    _set(b, count, CF, lambda: carry)
    _set_overflow(b, count, lambda: b.exactly_one(carry, b.bit(result, 8 * value.size - 2)))
    b.write(target, result)


def _rotated(b: Builder, value: Var, count: Var) -> Var:
    """Rotated left by a count taken modulo the width."""
    bits = 8 * value.size
    left = b.and_(count, bits - 1)
    right = b.sub(const(bits, 1), left)
    return b.or_(b.shl(value, left), b.shr(value, right))


def _rotate_through_carry(left: bool) -> Semantics:
    """The carry is bit `width` of a number one bit wider, which is rotated in a word twice as wide."""

    def semantics(b: Builder, target: Operand, amount: Operand) -> None:
        size = width(target)
        value, count = b.read(target), Count(b, amount, size)
        bits = 8 * size
        rotation = count.value if size >= 4 else count.modulo(bits + 1)
        wide = b.or_(b.zext(value, 2 * size), b.shl(b.zext(CF, 2 * size), bits))
        opposite = b.sub(const(bits + 1, 1), rotation)
        up, down = (rotation, opposite) if left else (opposite, rotation)
        rotated = b.or_(b.shl(wide, up), b.shr(wide, down))
        result = b.piece(rotated, 0, size)
        carry = _lowest_bit(b, b.piece(rotated, size, size))
        old_carry = b.hold(CF)
        _set(b, count, CF, lambda: carry)
        if left:
            _set_overflow(b, count, lambda: b.exactly_one(b.is_negative(result), carry))
        else:
            _set_overflow(b, count, lambda: b.exactly_one(b.is_negative(value), old_carry))
        b.write(target, result)

    return semantics


def shift_without_flags(shift: Callable[[Builder, Var, Var], Var]) -> Semantics:
    """`shlx`, `shrx`, `sarx`."""

    def semantics(b: Builder, target: Register, source: Operand, amount: Register) -> None:
        size = width(target)
        count = Count(b, amount, size)
        b.write(target, shift(b, b.read(source, size), count.value))

    return semantics


def rotate_without_flags(b: Builder, target: Register, source: Operand, amount: ImmediateOperand) -> None:
    size = width(target)
    b.write(target, _rotated(b, b.read(source, size), const(-amount.value, 1)))


TABLE: Mapping[str, Semantics] = {
    "SHL": shift_left,
    "SAL": shift_left,
    "SHR": shift_right,
    "SAR": shift_right_signed,
    "SHLD": _double_shift(left=True),
    "SHRD": _double_shift(left=False),
    "ROL": rotate_left,
    "ROR": rotate_right,
    "RCL": _rotate_through_carry(left=True),
    "RCR": _rotate_through_carry(left=False),
    "SHLX": shift_without_flags(Builder.shl),
    "SHRX": shift_without_flags(Builder.shr),
    "SARX": shift_without_flags(Builder.sar),
    "RORX": rotate_without_flags,
}
