"""The toy machine of seed 002: four 32-bit registers, forward jumps only, no memory.

The seed gives no encoding; ours is eight bytes an instruction: opcode, x, y, `implicit`, and a 32-bit
little-endian constant or jump offset. `implicit` is 1 in the return that the assembler puts at the end.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

from isoform.isa.in_order import in_order
from isoform.model.machine import Convention, Machine, registers_of
from isoform.model.microop import TRUE, Instruction, Kind, MicroOp, Space, Var, abort_reason, code, const
from isoform.model.outcome import RETURN_ADDRESS

INSTRUCTION_BYTES = 8
REGISTER_COUNT = 4

_REGISTERS = registers_of(*((f"r{n}", 8 * n, 4) for n in range(REGISTER_COUNT)), ("out", 32, 4), ("ra", 40, 8))
_OUT = _REGISTERS["out"]
_RETURN = MicroOp(Kind.RETURN, None, (_REGISTERS["ra"],))


class Fields(NamedTuple):
    """The operands of one instruction as they stand in its bytes."""

    x: int
    y: int
    implicit: int
    immediate: int

    @property
    def rx(self) -> Var:
        return _REGISTERS[f"r{self.x}"]

    @property
    def ry(self) -> Var:
        return _REGISTERS[f"r{self.y}"]

    @property
    def constant(self) -> Var:
        return const(self.immediate, 4)


Lift = Callable[[Fields, int], tuple[MicroOp, ...]]


class Operation(NamedTuple):
    opcode: int
    operands: str
    """In the order they are written: `x` and `y` registers, `c` a constant, `o` a jump offset."""
    lift: Lift
    """From the fields and the address of the next instruction."""


def _nothing(fields: Fields, following: int) -> tuple[MicroOp, ...]:
    return ()


def _add(second: Callable[[Fields], Var]) -> Lift:
    return lambda fields, following: (MicroOp(Kind.INT_ADD, fields.rx, (fields.rx, second(fields))),)


def _move(second: Callable[[Fields], Var]) -> Lift:
    return lambda fields, following: (MicroOp(Kind.COPY, fields.rx, (second(fields),)),)


def _maximum(second: Callable[[Fields], Var]) -> Lift:
    def lift(fields: Fields, following: int) -> tuple[MicroOp, ...]:
        smaller = Var(Space.TEMP, 0, 1)
        return (
            MicroOp(Kind.INT_SLESS, smaller, (fields.rx, second(fields))),
            MicroOp(Kind.SELECT, fields.rx, (smaller, second(fields), fields.rx)),
        )

    return lift


def _jump(fields: Fields, following: int) -> tuple[MicroOp, ...]:
    return (MicroOp(Kind.BRANCH, None, (code(_target(fields, following)),)),)


def _jump_if(kind: Kind, swapped: bool = False) -> Lift:
    def lift(fields: Fields, following: int) -> tuple[MicroOp, ...]:
        taken = Var(Space.TEMP, 0, 1)
        compared = (fields.ry, fields.rx) if swapped else (fields.rx, fields.ry)
        return (
            MicroOp(kind, taken, compared),
            MicroOp(Kind.CBRANCH, None, (code(_target(fields, following)), taken)),
        )

    return lift


def _return(value: Callable[[Fields], Var]) -> Lift:
    return lambda fields, following: (MicroOp(Kind.COPY, _OUT, (value(fields),)), _RETURN)


def _target(fields: Fields, following: int) -> int:
    return following + INSTRUCTION_BYTES * fields.immediate


def _rx(fields: Fields) -> Var:
    return fields.rx


def _ry(fields: Fields) -> Var:
    return fields.ry


def _constant(fields: Fields) -> Var:
    return fields.constant


OPERATIONS: dict[str, Operation] = {
    "NOP": Operation(0, "", _nothing),
    "ADDXY": Operation(1, "xy", _add(_ry)),
    "ADDXC": Operation(2, "xc", _add(_constant)),
    "MOVXY": Operation(3, "xy", _move(_ry)),
    "MOVXC": Operation(4, "xc", _move(_constant)),
    "MAXX": Operation(5, "xy", _maximum(_ry)),
    "MAXC": Operation(6, "xc", _maximum(_constant)),
    "JMP": Operation(7, "o", _jump),
    "JMPEQ": Operation(8, "xyo", _jump_if(Kind.INT_EQUAL)),
    "JMPGT": Operation(9, "xyo", _jump_if(Kind.INT_SLESS, swapped=True)),
    "JMPGE": Operation(10, "xyo", _jump_if(Kind.INT_SLESSEQUAL, swapped=True)),
    "JMPLT": Operation(11, "xyo", _jump_if(Kind.INT_SLESS)),
    "JMPLE": Operation(12, "xyo", _jump_if(Kind.INT_SLESSEQUAL)),
    "RET": Operation(13, "x", _return(_rx)),
    "RETX": Operation(14, "x", _return(_rx)),
    "RETC": Operation(15, "c", _return(_constant)),
}
_BY_OPCODE = {operation.opcode: (name, operation) for name, operation in OPERATIONS.items()}


def encode(name: str, x: int = 0, y: int = 0, immediate: int = 0, implicit: bool = False) -> bytes:
    return struct.pack("<BBBBI", OPERATIONS[name].opcode, x, y, implicit, immediate & 0xFFFF_FFFF)


def decode(code: bytes, address: int) -> Instruction:
    if not code:
        return _fault(code, address, "jump outside the program")
    if len(code) < INSTRUCTION_BYTES:
        return _fault(code, address, "invalid instruction")
    opcode, *operands = struct.unpack("<BBBBi", code[:INSTRUCTION_BYTES])
    fields = Fields(*operands)
    if opcode not in _BY_OPCODE or fields.x >= REGISTER_COUNT or fields.y >= REGISTER_COUNT:
        return _fault(code[:INSTRUCTION_BYTES], address, "invalid instruction")
    name, operation = _BY_OPCODE[opcode]
    following = address + INSTRUCTION_BYTES
    text = _text(name, operation, fields, following)
    return Instruction(address, INSTRUCTION_BYTES, text, operation.lift(fields, following))


def _fault(code: bytes, address: int, reason: str) -> Instruction:
    abort = MicroOp(Kind.ABORT, None, (TRUE, abort_reason(reason)))
    return Instruction(address, max(len(code), 1), f"({reason})", (abort,))


def _text(name: str, operation: Operation, fields: Fields, following: int) -> str:
    shown = {
        "x": f"r{fields.x}",
        "y": f"r{fields.y}",
        "c": str(fields.immediate),
        "o": f"{_target(fields, following):#x}",
    }
    if fields.implicit:
        return f"(end) {name} {fields.x}"
    return " ".join([name, ", ".join(shown[letter] for letter in operation.operands)]).strip()


_TITLE = "toy (four registers, no memory)"
_CONVENTION = Convention(integer_arguments=("r0",), result=("out",), return_address="ra")

MACHINE = Machine(
    name="toy",
    title=_TITLE,
    decode=decode,
    memory=None,
    convention=_CONVENTION,
    place=in_order(_TITLE, _CONVENTION, _REGISTERS),
    fixes_signature=True,
    registers=_REGISTERS,
    containers=tuple(_REGISTERS),
    initial={"r1": 0, "r2": 0, "r3": 0, "out": 0, "ra": RETURN_ADDRESS},
    instruction_alignment=INSTRUCTION_BYTES,
)
