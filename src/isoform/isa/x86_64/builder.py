"""Writes the micro-ops of one x86-64 instruction.

Values are `Var`s. A register is read by naming it, without a copy: a semantics function computes everything
it needs from a register, flags included, before it writes that register. Numbers may stand in for constants
of the other operand's width.
"""

from __future__ import annotations

from typing import NamedTuple

from isoform.isa.x86_64.operands import ImmediateOperand, MemoryOperand, NoSemanticsError, Operand, Register, is_general
from isoform.isa.x86_64.registers import CANARY, CANARY_OFFSET, REGISTERS
from isoform.model.microop import FALSE, TRUE, Kind, MicroOp, Space, Var, abort_reason, code, const

Value = Var | int


class Masking(NamedTuple):
    """What EVEX does to the lanes of a vector result before it is written."""

    register: Var
    """One of k1 to k7, one bit per lane."""
    lane: int
    """Its size in bytes."""
    zeroing: bool
    """Whether lanes whose bit is clear become 0; otherwise they keep the target's value."""


class Builder:
    def __init__(self, address: int, length: int, masking: Masking | None = None) -> None:
        self.address = address
        self.next_address = address + length
        self.masking = masking
        self.ops: list[MicroOp] = []
        self._temps = 0
        self._addresses: dict[MemoryOperand, Var] = {}

    def finish(self) -> tuple[MicroOp, ...]:
        return tuple(_without_needless_copies(self.ops))

    # Operands

    def read(self, operand: Operand, size: int | None = None) -> Var:
        """The value of an operand; `size` is used if the operand does not determine it."""
        if isinstance(operand, ImmediateOperand):
            return const(operand.value, self._needed(size))
        if isinstance(operand, Register):
            return self._part_of_register(operand.var, size)
        size = self._needed(size or operand.size)
        if operand.segment == "fs" and operand.base is None and operand.index is None:
            return self._thread_word(operand, size)
        return self.load(self.address_of(operand), size)

    def write(self, operand: Operand, value: Var) -> None:
        """Writes a destination as the machine does: 32 bits of a general register clear the upper half."""
        if isinstance(operand, Register):
            self.write_register(operand.var, value)
        elif isinstance(operand, MemoryOperand) and not _overlaps_canary(operand, value.size):
            self.store(self.address_of(operand), value)
        else:
            raise NoSemanticsError

    def write_register(self, register: Var, value: Var) -> None:
        if register.size != value.size:
            raise NoSemanticsError
        if is_general(register) and register.size == 4:
            self.ops.append(MicroOp(Kind.INT_ZEXT, Var(Space.REGISTER, register.offset, 8), (value,)))
        else:
            self.set(register, value)

    def address_of(self, memory: MemoryOperand) -> Var:
        """The address, segment included, computed once for reads and writes alike."""
        if memory not in self._addresses:
            self._addresses[memory] = self._in_segment(memory, self.offset_of(memory))
        return self._addresses[memory]

    def address_from(self, memory: MemoryOperand, distance: Var) -> Var:
        """The address of an operand plus a number of bytes. With 32-bit addresses the sum is truncated to 32 bits
        before the segment is added."""
        moved = self.add(self.offset_of(memory), distance)
        if _address_bytes(memory) < moved.size:
            moved = self.zext(self.piece(moved, 0, _address_bytes(memory)), moved.size)
        return self._in_segment(memory, moved)

    def _in_segment(self, memory: MemoryOperand, offset: Var) -> Var:
        return self.add(REGISTERS[f"{memory.segment}_offset"], offset) if memory.segment else offset

    def address_of_part(self, memory: MemoryOperand, at: int, size: int) -> Var:
        """The address of `size` bytes at offset `at` of a wider operand."""
        if _overlaps_canary(memory, at + size):
            raise NoSemanticsError
        address = self.address_of(memory)
        return self.add(address, at) if at else address

    def offset_of(self, memory: MemoryOperand) -> Var:
        """The address without its segment, as `lea` gives it."""
        size = _address_bytes(memory)
        total: Var | None = memory.base
        if memory.index is not None:
            scaled = self.mul(memory.index, memory.scale) if memory.scale > 1 else memory.index
            total = scaled if total is None else self.add(total, scaled)
        if total is None:
            total = const(memory.displacement, size)
        elif memory.displacement:
            total = self.add(total, memory.displacement)
        return self.zext(total, 8)

    def _thread_word(self, memory: MemoryOperand, size: int) -> Var:
        if memory.displacement == CANARY_OFFSET and size == 8:
            return CANARY
        if _overlaps_canary(memory, size):
            raise NoSemanticsError
        return self.load(self.address_of(memory), size)

    def _part_of_register(self, register: Var, size: int | None) -> Var:
        if size is None or size == register.size:
            return register
        if size > register.size:
            raise NoSemanticsError
        return Var(register.space, register.offset, size)

    def _needed(self, size: int | None) -> int:
        if size is None:
            raise NoSemanticsError
        return size

    # Micro-ops without a value

    def set(self, target: Var, value: Value) -> None:
        self.ops.append(MicroOp(Kind.COPY, target, (self._var(value, target.size),)))

    def store(self, address: Var, value: Var) -> None:
        self.ops.append(MicroOp(Kind.STORE, None, (address, value)))

    def abort(self, condition: Var, reason: str) -> None:
        self.ops.append(MicroOp(Kind.ABORT, None, (condition, abort_reason(reason))))

    def branch(self, target: int) -> None:
        self.ops.append(MicroOp(Kind.BRANCH, None, (code(target),)))

    def branch_if(self, condition: Var, target: int) -> None:
        self.ops.append(MicroOp(Kind.CBRANCH, None, (code(target), condition)))

    def leave_to(self, kind: Kind, target: Var) -> None:
        """CALL, CALLIND, BRANCHIND or RETURN."""
        self.ops.append(MicroOp(kind, None, (target,)))

    def ask_system(self) -> None:
        self.ops.append(MicroOp(Kind.SYSTEM, None, ()))

    # Values

    def temp(self, size: int) -> Var:
        self._temps += 1
        return Var(Space.TEMP, 64 * self._temps, size)

    def _var(self, value: Value, size: int) -> Var:
        return const(value, size) if isinstance(value, int) else value

    def _emit(self, kind: Kind, size: int, *ins: Var) -> Var:
        out = self.temp(size)
        self.ops.append(MicroOp(kind, out, ins))
        return out

    def _binary(self, kind: Kind, left: Value, right: Value) -> Var:
        size = _common_size(left, right)
        return self._emit(kind, size, self._var(left, size), self._var(right, size))

    def _compare(self, kind: Kind, left: Value, right: Value) -> Var:
        size = _common_size(left, right)
        return self._emit(kind, 1, self._var(left, size), self._var(right, size))

    def hold(self, value: Var) -> Var:
        """A copy that later writes to the register do not change."""
        return self._emit(Kind.COPY, value.size, value)

    def load(self, address: Var, size: int) -> Var:
        return self._emit(Kind.LOAD, size, address)

    def undefined(self, size: int) -> Var:
        return self._emit(Kind.UNDEFINED, size)

    def undefined_boolean(self) -> Var:
        return self.and_(self.undefined(1), 1)

    def select(self, condition: Var, then: Value, otherwise: Value) -> Var:
        size = _common_size(then, otherwise)
        return self._emit(Kind.SELECT, size, condition, self._var(then, size), self._var(otherwise, size))

    def add(self, left: Value, right: Value) -> Var:
        return self._binary(Kind.INT_ADD, left, right)

    def sub(self, left: Value, right: Value) -> Var:
        return self._binary(Kind.INT_SUB, left, right)

    def mul(self, left: Value, right: Value) -> Var:
        return self._binary(Kind.INT_MULT, left, right)

    def and_(self, left: Value, right: Value) -> Var:
        return self._binary(Kind.INT_AND, left, right)

    def or_(self, left: Value, right: Value) -> Var:
        return self._binary(Kind.INT_OR, left, right)

    def xor(self, left: Value, right: Value) -> Var:
        return self._binary(Kind.INT_XOR, left, right)

    def divide(self, kind: Kind, left: Var, right: Var) -> Var:
        return self._binary(kind, left, right)

    def not_(self, value: Var) -> Var:
        return self._emit(Kind.INT_NEGATE, value.size, value)

    def negative(self, value: Var) -> Var:
        return self._emit(Kind.INT_2COMP, value.size, value)

    def shl(self, value: Var, count: Value) -> Var:
        return self._emit(Kind.INT_LEFT, value.size, value, self._var(count, 4))

    def shr(self, value: Var, count: Value) -> Var:
        return self._emit(Kind.INT_RIGHT, value.size, value, self._var(count, 4))

    def sar(self, value: Var, count: Value) -> Var:
        return self._emit(Kind.INT_SRIGHT, value.size, value, self._var(count, 4))

    def equal(self, left: Value, right: Value) -> Var:
        return self._compare(Kind.INT_EQUAL, left, right)

    def differ(self, left: Value, right: Value) -> Var:
        return self._compare(Kind.INT_NOTEQUAL, left, right)

    def below(self, left: Value, right: Value) -> Var:
        return self._compare(Kind.INT_LESS, left, right)

    def below_or_equal(self, left: Value, right: Value) -> Var:
        return self._compare(Kind.INT_LESSEQUAL, left, right)

    def less(self, left: Value, right: Value) -> Var:
        return self._compare(Kind.INT_SLESS, left, right)

    def is_negative(self, value: Var) -> Var:
        return self.less(value, 0)

    def carry(self, left: Value, right: Value) -> Var:
        return self._compare(Kind.INT_CARRY, left, right)

    def signed_carry(self, left: Value, right: Value) -> Var:
        return self._compare(Kind.INT_SCARRY, left, right)

    def signed_borrow(self, left: Value, right: Value) -> Var:
        return self._compare(Kind.INT_SBORROW, left, right)

    def negate(self, condition: Var) -> Var:
        return self._emit(Kind.BOOL_NEGATE, 1, condition)

    def both(self, left: Var, right: Var) -> Var:
        return self._emit(Kind.BOOL_AND, 1, left, right)

    def either(self, left: Var, right: Var) -> Var:
        return self._emit(Kind.BOOL_OR, 1, left, right)

    def exactly_one(self, left: Var, right: Var) -> Var:
        return self._emit(Kind.BOOL_XOR, 1, left, right)

    def zext(self, value: Var, size: int) -> Var:
        return value if value.size == size else self._emit(Kind.INT_ZEXT, size, value)

    def sext(self, value: Var, size: int) -> Var:
        return value if value.size == size else self._emit(Kind.INT_SEXT, size, value)

    def piece(self, value: Var, at: int, size: int) -> Var:
        """`size` bytes from offset `at`."""
        if at == 0 and size == value.size:
            return value
        if value.space is Space.REGISTER:
            return Var(Space.REGISTER, value.offset + at, size)
        return self._emit(Kind.SUBPIECE, size, value, const(at, 4))

    def join(self, *parts: Var) -> Var:
        """The concatenation of parts, lowest first."""
        if len(parts) == 1:
            return parts[0]
        half = (len(parts) + 1) // 2
        low, high = self.join(*parts[:half]), self.join(*parts[half:])
        return self._emit(Kind.PIECE, low.size + high.size, high, low)

    def bit(self, value: Var, number: int) -> Var:
        """One bit as a boolean."""
        byte = self.piece(value, number // 8, 1)
        return self.is_negative(byte) if number % 8 == 7 else self.differ(self.and_(byte, 1 << number % 8), 0)

    def popcount(self, value: Var, size: int) -> Var:
        return self._emit(Kind.POPCOUNT, size, value)

    def leading_zeros(self, value: Var, size: int) -> Var:
        return self._emit(Kind.LZCOUNT, size, value)

    def float_binary(self, kind: Kind, left: Var, right: Var) -> Var:
        return self._binary(kind, left, right)

    def float_unary(self, kind: Kind, size: int, value: Var) -> Var:
        return self._emit(kind, size, value)

    def float_compare(self, kind: Kind, left: Var, right: Var) -> Var:
        return self._compare(kind, left, right)

    def float_nan(self, value: Var) -> Var:
        return self._emit(Kind.FLOAT_NAN, 1, value)

    def float_round(self, value: Var, mode: int) -> Var:
        """Rounded to an integer; `mode` is an index into `ROUNDING_MODES`."""
        return self._emit(Kind.FLOAT_ROUND, value.size, value, const(mode, 1))

    def boolean(self, value: bool) -> Var:
        return TRUE if value else FALSE


def _common_size(left: Value, right: Value) -> int:
    if isinstance(left, Var):
        return left.size
    assert isinstance(right, Var), "two plain numbers have no width"
    return right.size


def _address_bytes(memory: MemoryOperand) -> int:
    """The width in which its address is computed."""
    return memory.base.size if memory.base else memory.index.size if memory.index else 8


def _overlaps_canary(memory: MemoryOperand, size: int) -> bool:
    """Only the plain `fs:0x28` is known to be the canary: an access to part of it, or a write, has no meaning here."""
    if memory.segment != "fs" or memory.base is not None or memory.index is not None:
        return False
    return memory.displacement < CANARY_OFFSET + 8 and memory.displacement + size > CANARY_OFFSET


def _without_needless_copies(ops: list[MicroOp]) -> list[MicroOp]:
    """Turns `t = x op y; r = t` into `r = x op y` if t is not used elsewhere."""
    uses: dict[Var, int] = {}
    for op in ops:
        for var in op.ins:
            uses[var] = uses.get(var, 0) + 1
    kept: list[MicroOp] = []
    for op in ops:
        source = op.ins[0] if op.kind is Kind.COPY else None
        previous = kept[-1] if kept else None
        fresh = source is not None and source.space is Space.TEMP and uses[source] == 1
        if fresh and previous is not None and previous.out == source:
            kept[-1] = MicroOp(previous.kind, op.out, previous.ins)
        else:
            kept.append(op)
    return kept
