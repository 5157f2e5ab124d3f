"""Integer arithmetic and logic of x86-64."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.flags import (
    CF,
    OF,
    ZF,
    leave_undefined,
    set_add_flags,
    set_logic_flags,
    set_result_flags,
    set_subtract_flags,
)
from isoform.isa.x86_64.operands import MemoryOperand, NoSemanticsError, Operand, Register
from isoform.isa.x86_64.registers import REGISTERS
from isoform.model.microop import Kind, Var, const

Semantics = Callable[..., None]
"""Takes the builder and the instruction's operands."""

RAX, RCX, RDX, RBX, RSP, RBP = (REGISTERS[name] for name in ("rax", "rcx", "rdx", "rbx", "rsp", "rbp"))
AL, AH, AX = (REGISTERS[name] for name in ("al", "ah", "ax"))


def width(*operands: Operand) -> int:
    """The operand size: that of the first register, else the size of the memory operand."""
    for operand in operands:
        if isinstance(operand, Register):
            return operand.var.size
    for operand in operands:
        if isinstance(operand, MemoryOperand) and operand.size is not None:
            return operand.size
    raise NoSemanticsError


def part(whole: Var, size: int) -> Var:
    return Var(whole.space, whole.offset, size)


def add(b: Builder, target: Operand, source: Operand) -> None:
    size = width(target, source)
    left, right = b.read(target, size), b.read(source, size)
    total = b.add(left, right)
    set_add_flags(b, left, right, total)
    b.write(target, total)


def subtract(b: Builder, target: Operand, source: Operand) -> None:
    size = width(target, source)
    left, right = b.read(target, size), b.read(source, size)
    difference = b.sub(left, right)
    set_subtract_flags(b, left, right, difference)
    b.write(target, difference)


def compare(b: Builder, left: Operand, right: Operand) -> None:
    size = width(left, right)
    x, y = b.read(left, size), b.read(right, size)
    set_subtract_flags(b, x, y, b.sub(x, y))


def sum_with_carry(b: Builder, left: Var, right: Var, carry: Var) -> tuple[Var, Var, Var]:
    """The sum, its carry and its signed overflow."""
    partial = b.add(left, right)
    extra = b.zext(carry, left.size)
    total = b.add(partial, extra)
    carried = b.either(b.carry(left, right), b.carry(partial, extra))
    overflow = b.exactly_one(b.signed_carry(left, right), b.signed_carry(partial, extra))
    return total, carried, overflow


def add_with_carry(b: Builder, target: Operand, source: Operand) -> None:
    size = width(target, source)
    total, carried, overflow = sum_with_carry(b, b.read(target, size), b.read(source, size), CF)
    b.set(CF, carried)
    b.set(OF, overflow)
    set_result_flags(b, total)
    b.write(target, total)


def subtract_with_borrow(b: Builder, target: Operand, source: Operand) -> None:
    size = width(target, source)
    if target == source:
        # Compilers make a mask of the carry in this way, in a register that they did not set.
        left = right = const(0, size)
        borrow = b.zext(CF, size)
    else:
        left, right, borrow = b.read(target, size), b.read(source, size), b.zext(CF, size)
    partial = b.sub(left, right)
    difference = b.sub(partial, borrow)
    borrowed = b.either(b.below(left, right), b.below(partial, borrow))
    overflow = b.exactly_one(b.signed_borrow(left, right), b.signed_borrow(partial, borrow))
    b.set(CF, borrowed)
    b.set(OF, overflow)
    set_result_flags(b, difference)
    b.write(target, difference)


def add_with_own_carry(flag: Var) -> Semantics:
    """`adcx`, `adox`: one flag in and out, the others kept."""

    def semantics(b: Builder, target: Register, source: Operand) -> None:
        size = width(target)
        left, right, extra = b.read(target), b.read(source, size), b.zext(flag, size)
        partial = b.add(left, right)
        total = b.add(partial, extra)
        b.set(flag, b.either(b.carry(left, right), b.carry(partial, extra)))
        b.write(target, total)

    return semantics


def increment(b: Builder, target: Operand) -> None:
    value = b.read(target)
    total = b.add(value, 1)
    b.set(OF, b.signed_carry(value, 1))
    set_result_flags(b, total)
    b.write(target, total)


def decrement(b: Builder, target: Operand) -> None:
    value = b.read(target)
    difference = b.sub(value, 1)
    b.set(OF, b.signed_borrow(value, 1))
    set_result_flags(b, difference)
    b.write(target, difference)


def negate(b: Builder, target: Operand) -> None:
    value = b.read(target)
    result = b.negative(value)
    b.set(CF, b.differ(value, 0))
    b.set(OF, b.signed_borrow(const(0, value.size), value))
    set_result_flags(b, result)
    b.write(target, result)


def complement(b: Builder, target: Operand) -> None:
    b.write(target, b.not_(b.read(target)))


def logic(operator: Callable[[Builder, Var, Var], Var]) -> Semantics:
    def semantics(b: Builder, target: Operand, source: Operand) -> None:
        size = width(target, source)
        result = operator(b, b.read(target, size), b.read(source, size))
        set_logic_flags(b, result)
        b.write(target, result)

    return semantics


def test(b: Builder, left: Operand, right: Operand) -> None:
    size = width(left, right)
    set_logic_flags(b, b.and_(b.read(left, size), b.read(right, size)))


def exchange_and_add(b: Builder, target: Operand, source: Register) -> None:
    size = width(source)
    left, right = b.hold(b.read(target, size)), b.hold(b.read(source))
    total = b.add(left, right)
    set_add_flags(b, left, right, total)
    if isinstance(target, MemoryOperand):
        # The source may be part of the address.
        b.write(target, total)
        b.write(source, left)
    else:
        b.write(source, left)
        b.write(target, total)


def compare_and_exchange(b: Builder, target: Operand, source: Register) -> None:
    """The accumulator keeps all its bits if the two were equal, and a register target if they were not."""
    size = width(source)
    accumulator = part(RAX, size)
    old, new = b.hold(b.read(target, size)), b.hold(b.read(source))
    equal = b.equal(accumulator, old)
    set_subtract_flags(b, accumulator, old, b.sub(accumulator, old))
    if isinstance(target, MemoryOperand):
        b.write(target, b.select(equal, new, old))
        _write_where(b, b.negate(equal), RAX, old)
    elif target == Register(accumulator):
        # Comparing the accumulator with itself always succeeds.
        b.write(target, new)
    else:
        _write_where(b, b.negate(equal), RAX, old)
        _write_where(b, equal, _whole(target), new, at=_byte_in_whole(target))


def _whole(target: Operand) -> Var:
    if not isinstance(target, Register):
        raise NoSemanticsError
    return Var(target.var.space, target.var.offset & ~7, 8)


def _byte_in_whole(target: Operand) -> int:
    return target.var.offset & 7 if isinstance(target, Register) else 0


def _write_where(b: Builder, condition: Var, whole: Var, value: Var, at: int = 0) -> None:
    """Writes part of a register, as the machine would, only if the condition holds."""
    if value.size >= 4:
        b.set(whole, b.select(condition, b.zext(value, 8), whole))
    else:
        place = Var(whole.space, whole.offset + at, value.size)
        b.set(place, b.select(condition, value, place))


def compare_and_exchange_pair(b: Builder, target: MemoryOperand) -> None:
    size = 2 * (8 if target.size == 16 else 4)
    half = size // 2
    old = b.read(target, size)
    expected = b.join(part(RAX, half), part(RDX, half))
    equal = b.equal(expected, old)
    b.write(target, b.select(equal, b.join(part(RBX, half), part(RCX, half)), old))
    b.set(ZF, equal)
    for register_, value in ((RAX, b.piece(old, 0, half)), (RDX, b.piece(old, half, half))):
        _write_where(b, b.negate(ZF), register_, value)


def multiply(name: str, extend: Callable[[Builder, Var, int], Var]) -> Semantics:
    """`mul` and the one-operand `imul`: the accumulator times the operand, twice as wide."""

    def semantics(b: Builder, source: Operand) -> None:
        size = width(source)
        product = b.mul(extend(b, part(RAX, size), 2 * size), extend(b, b.read(source, size), 2 * size))
        low = b.piece(product, 0, size)
        overflow = b.differ(product, extend(b, low, 2 * size))
        _set_product_flags(b, name, overflow)
        if size == 1:
            b.set(AX, product)
        else:
            b.write_register(part(RAX, size), low)
            b.write_register(part(RDX, size), b.piece(product, size, size))

    return semantics


def _set_product_flags(b: Builder, name: str, overflow: Var) -> None:
    b.set(CF, overflow)
    b.set(OF, overflow)
    leave_undefined(b, name)


_multiply_accumulator = multiply("IMUL", Builder.sext)


def multiply_signed(b: Builder, target: Operand, *sources: Operand) -> None:
    if not sources:
        _multiply_accumulator(b, target)
        return
    size = width(target)
    left, right = sources if len(sources) == 2 else (target, *sources)
    x, y = b.read(left, size), b.read(right, size)
    product = b.mul(b.sext(x, 2 * size), b.sext(y, 2 * size))
    low = b.piece(product, 0, size)
    _set_product_flags(b, "IMUL", b.differ(b.sext(low, 2 * size), product))
    b.write(target, low)


def divide(b: Builder, source: Operand) -> None:
    size = width(source)
    divisor = b.read(source, size)
    high, low = (AH, AL) if size == 1 else (part(RDX, size), part(RAX, size))
    # The quotient fits if and only if the upper half is below the divisor. For a divisor of zero it never is.
    b.abort(b.below_or_equal(divisor, high), "division fault")
    dividend, wide = b.join(low, high), b.zext(divisor, 2 * size)
    quotient = b.divide(Kind.INT_DIV, dividend, wide)
    remainder = b.divide(Kind.INT_REM, dividend, wide)
    _finish_division(b, "DIV", quotient, remainder, low, high)


def divide_signed(b: Builder, source: Operand) -> None:
    size = width(source)
    divisor = b.read(source, size)
    b.abort(b.equal(divisor, 0), "division fault")
    high, low = (AH, AL) if size == 1 else (part(RDX, size), part(RAX, size))
    dividend, wide = b.join(low, high), b.sext(divisor, 2 * size)
    quotient = b.divide(Kind.INT_SDIV, dividend, wide)
    b.abort(b.differ(b.sext(b.piece(quotient, 0, size), 2 * size), quotient), "division fault")
    remainder = b.divide(Kind.INT_SREM, dividend, wide)
    _finish_division(b, "IDIV", quotient, remainder, low, high)


def _finish_division(b: Builder, name: str, quotient: Var, remainder: Var, low: Var, high: Var) -> None:
    b.write_register(low, b.piece(quotient, 0, low.size))
    b.write_register(high, b.piece(remainder, 0, low.size))
    leave_undefined(b, name)


# fmt: off
TABLE: Mapping[str, Semantics] = {
    "ADD": add, "SUB": subtract, "CMP": compare, "ADC": add_with_carry, "SBB": subtract_with_borrow,
    "ADCX": add_with_own_carry(CF), "ADOX": add_with_own_carry(OF), "INC": increment, "DEC": decrement,
    "NEG": negate, "NOT": complement, "AND": logic(Builder.and_), "OR": logic(Builder.or_),
    "XOR": logic(Builder.xor), "TEST": test, "XADD": exchange_and_add, "CMPXCHG": compare_and_exchange,
    "CMPXCHG8B": compare_and_exchange_pair, "CMPXCHG16B": compare_and_exchange_pair,
    "MUL": multiply("MUL", Builder.zext), "IMUL": multiply_signed, "DIV": divide, "IDIV": divide_signed,
}
# fmt: on
