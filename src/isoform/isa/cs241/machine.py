"""The cs241 machine of seed 000: a MIPS of 17 instructions and `.word`, without delay slots.

Words are big-endian, the program is at address 0 of 16 MiB of memory that starts as zero, `$1` and `$2` are
the inputs and `$3` is the answer. The return address at entry lies outside memory; arriving there ends the
program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from isoform.isa.emitter import Emitter
from isoform.isa.in_order import in_order
from isoform.model.machine import Convention, Machine, MemoryLayout, registers_of
from isoform.model.microop import TRUE, Instruction, Kind, MicroOp, Var, abort_reason, code, const

MEMORY_SIZE = 0x0100_0000
RETURN_ADDRESS = 0x8123_456C
WORD_BYTES = 4
FIELD_SHIFTS = {"s": 21, "t": 16, "d": 11, "i": 0}

_FIELD_MASKS = {"s": 0x1F << 21, "t": 0x1F << 16, "d": 0x1F << 11, "i": 0xFFFF}
_REGISTERS = registers_of(*((f"${n}", 8 * n, 4) for n in range(32)), ("hi", 256, 4), ("lo", 264, 4))
_ZERO = const(0, 4)


class Fields(NamedTuple):
    """The fields of one instruction word."""

    word: int
    address: int
    constant: int
    """The word after it, which only `lis` reads."""

    def number(self, letter: str) -> int:
        return (self.word & _FIELD_MASKS[letter]) >> FIELD_SHIFTS[letter]

    @property
    def destination(self) -> int:
        return self.number("d")

    @property
    def s(self) -> Var:
        return _source(self.number("s"))

    @property
    def t(self) -> Var:
        return _source(self.number("t"))

    @property
    def immediate(self) -> int:
        unsigned = self.number("i")
        return unsigned - 0x1_0000 if unsigned >> 15 else unsigned

    @property
    def following(self) -> int:
        return (self.address + WORD_BYTES) & 0xFFFF_FFFF

    @property
    def branch_target(self) -> int:
        return (self.following + WORD_BYTES * self.immediate) & 0xFFFF_FFFF


def _source(number: int) -> Var:
    return _REGISTERS[f"${number}"] if number else _ZERO


class _Emitter(Emitter):
    def name(self, register: str, kind: Kind, *ins: Var) -> None:
        self.ops.append(MicroOp(kind, _REGISTERS[register], ins))

    def write(self, number: int, kind: Kind, *ins: Var) -> None:
        """Write register `number`; a write to `$0` is ignored."""
        if number:
            self.name(f"${number}", kind, *ins)

    def abort_if(self, condition: Var, reason: str) -> None:
        self.do(Kind.ABORT, condition, abort_reason(reason))


Lift = Callable[[_Emitter, Fields], None]


class Operation(NamedTuple):
    word: int
    """The encoding with every operand field zero."""
    operands: str
    """In the order they are written: `d`, `s`, `t` registers, `i` a number."""
    lift: Lift


def _arithmetic(kind: Kind) -> Lift:
    return lambda emit, fields: emit.write(fields.destination, kind, fields.s, fields.t)


def _set_if(kind: Kind) -> Lift:
    def lift(emit: _Emitter, fields: Fields) -> None:
        emit.write(fields.destination, Kind.INT_ZEXT, emit.compute(kind, 1, fields.s, fields.t))

    return lift


def _multiply(extension: Kind) -> Lift:
    def lift(emit: _Emitter, fields: Fields) -> None:
        factors = (emit.compute(extension, 8, fields.s), emit.compute(extension, 8, fields.t))
        product = emit.compute(Kind.INT_MULT, 8, *factors)
        emit.name("hi", Kind.SUBPIECE, product, const(4, 4))
        emit.name("lo", Kind.SUBPIECE, product, const(0, 4))

    return lift


def _divide(quotient: Kind, remainder: Kind) -> Lift:
    def lift(emit: _Emitter, fields: Fields) -> None:
        emit.abort_if(emit.compute(Kind.INT_EQUAL, 1, fields.t, _ZERO), "division fault")
        emit.name("lo", quotient, fields.s, fields.t)
        emit.name("hi", remainder, fields.s, fields.t)

    return lift


def _move_from(register: str) -> Lift:
    return lambda emit, fields: emit.write(fields.destination, Kind.COPY, _REGISTERS[register])


def _checked_address(emit: _Emitter, fields: Fields) -> Var:
    """The address of a `lw` or `sw`, after the faults it may raise."""
    address = fields.s
    if fields.immediate:
        address = emit.compute(Kind.INT_ADD, 4, address, const(fields.immediate, 4))
    low_bits = emit.compute(Kind.INT_AND, 4, address, const(WORD_BYTES - 1, 4))
    emit.abort_if(emit.compute(Kind.INT_NOTEQUAL, 1, low_bits, _ZERO), "unaligned access")
    outside = emit.compute(Kind.INT_LESSEQUAL, 1, const(MEMORY_SIZE, 4), address)
    emit.abort_if(outside, "access outside memory")
    return address


def _load(emit: _Emitter, fields: Fields) -> None:
    emit.write(fields.number("t"), Kind.LOAD, _checked_address(emit, fields))


def _store(emit: _Emitter, fields: Fields) -> None:
    emit.do(Kind.STORE, _checked_address(emit, fields), fields.t)


def _branch_if(kind: Kind) -> Lift:
    def lift(emit: _Emitter, fields: Fields) -> None:
        target = code(fields.branch_target)
        if fields.s != fields.t:
            emit.do(Kind.CBRANCH, target, emit.compute(kind, 1, fields.s, fields.t))
        elif kind is Kind.INT_EQUAL:
            emit.do(Kind.BRANCH, target)

    return lift


def _jump(emit: _Emitter, fields: Fields) -> None:
    emit.do(Kind.RETURN if fields.number("s") == 31 else Kind.BRANCHIND, fields.s)


def _jump_and_link(emit: _Emitter, fields: Fields) -> None:
    target = emit.compute(Kind.COPY, 4, fields.s)
    emit.write(31, Kind.COPY, const(fields.following, 4))
    emit.do(Kind.CALLIND, target)


def _load_immediate(emit: _Emitter, fields: Fields) -> None:
    emit.write(fields.destination, Kind.COPY, const(fields.constant, 4))


OPERATIONS: dict[str, Operation] = {
    "add": Operation(0x20, "dst", _arithmetic(Kind.INT_ADD)),
    "sub": Operation(0x22, "dst", _arithmetic(Kind.INT_SUB)),
    "mult": Operation(0x18, "st", _multiply(Kind.INT_SEXT)),
    "multu": Operation(0x19, "st", _multiply(Kind.INT_ZEXT)),
    "div": Operation(0x1A, "st", _divide(Kind.INT_SDIV, Kind.INT_SREM)),
    "divu": Operation(0x1B, "st", _divide(Kind.INT_DIV, Kind.INT_REM)),
    "mfhi": Operation(0x10, "d", _move_from("hi")),
    "mflo": Operation(0x12, "d", _move_from("lo")),
    "lis": Operation(0x14, "d", _load_immediate),
    "lw": Operation(0x23 << 26, "tis", _load),
    "sw": Operation(0x2B << 26, "tis", _store),
    "slt": Operation(0x2A, "dst", _set_if(Kind.INT_SLESS)),
    "sltu": Operation(0x2B, "dst", _set_if(Kind.INT_LESS)),
    "beq": Operation(0x04 << 26, "sti", _branch_if(Kind.INT_EQUAL)),
    "bne": Operation(0x05 << 26, "sti", _branch_if(Kind.INT_NOTEQUAL)),
    "jr": Operation(0x08, "s", _jump),
    "jalr": Operation(0x09, "s", _jump_and_link),
}


def _selector(word: int) -> int:
    """The bits that tell operations apart: the opcode and, where that is 0, the function."""
    return word & (0xFC00_0000 if word >> 26 else 0xFC00_003F)


_BY_SELECTOR = {_selector(operation.word): name for name, operation in OPERATIONS.items()}


def operation_name(word: int) -> str | None:
    """The operation that a word encodes; None if it encodes none, for example because a field that must be zero is
    not."""
    name = _BY_SELECTOR.get(_selector(word))
    if name is None:
        return None
    operands = sum(_FIELD_MASKS[letter] for letter in OPERATIONS[name].operands)
    return name if word & ~operands == OPERATIONS[name].word else None


def decode(code: bytes, address: int) -> Instruction:
    """`lis` and the word after it are one instruction of eight bytes. This is sound as long as that word is never
    stored to, which holds for all code here. There is no instruction at an address that is not a multiple of four."""
    if not code or address % WORD_BYTES:
        return _fault(address, 1, "(outside the program)", "jump outside the program")
    word = int.from_bytes(code[:WORD_BYTES], "big")
    name = operation_name(word)
    length = 2 * WORD_BYTES if name == "lis" else WORD_BYTES
    if name is None or len(code) < length:
        return _fault(address, min(len(code), WORD_BYTES), f".word {word:#010x}", "invalid instruction")
    fields = Fields(word, address, int.from_bytes(code[WORD_BYTES : 2 * WORD_BYTES], "big"))
    emit = _Emitter()
    OPERATIONS[name].lift(emit, fields)
    return Instruction(address, length, _text(name, fields), tuple(emit.ops))


def _fault(address: int, length: int, text: str, reason: str) -> Instruction:
    return Instruction(address, length, text, (MicroOp(Kind.ABORT, None, (TRUE, abort_reason(reason))),))


def _text(name: str, fields: Fields) -> str:
    operands = OPERATIONS[name].operands
    if name == "lis":
        return f"lis ${fields.destination}; .word {_shown(fields.constant)}"
    if operands == "tis":
        return f"{name} ${fields.number('t')}, {fields.immediate}(${fields.number('s')})"
    shown = [f"{fields.branch_target:#x}" if letter == "i" else f"${fields.number(letter)}" for letter in operands]
    return f"{name} {', '.join(shown)}"


def _shown(value: int) -> str:
    signed = value - (1 << 32) if value >> 31 else value
    return str(signed) if abs(signed) < 10_000 else f"{value:#x}"


_TITLE = "cs241 MIPS"
_CONVENTION = Convention(integer_arguments=("$1", "$2"), result=("$3",), return_address="$31")

MACHINE = Machine(
    name="cs241",
    title=_TITLE,
    decode=decode,
    memory=MemoryLayout(address_bytes=4, big_endian=True, size=MEMORY_SIZE, zeroed=True),
    convention=_CONVENTION,
    place=in_order(_TITLE, _CONVENTION, _REGISTERS),
    fixes_signature=True,
    registers=_REGISTERS,
    containers=tuple(_REGISTERS),
    initial={name: 0 for name in _REGISTERS if name not in ("$1", "$2")} | {"$30": MEMORY_SIZE, "$31": RETURN_ADDRESS},
    instruction_alignment=WORD_BYTES,
)
