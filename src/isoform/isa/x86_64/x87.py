"""x87 instructions: decoded from their bytes, since the disassembly does not tell all of them apart.

The stack is in one container, its top first, so that a push moves the rest by ten bytes. Beside it are the number of
registers in use and the control word. A register that is not in use reads as the default NaN, as on a processor whose
exceptions are masked; its bytes are 0, so that equal stacks are equal containers. Exception flags and condition codes
are not modelled: what reads them has no semantics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isoform.isa.sleigh import Decoded
from isoform.isa.x86_64 import x87_numbers as numbers
from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.encoded import memory_operand
from isoform.isa.x86_64.flags import CF, OF, PF, SF, ZF
from isoform.isa.x86_64.operands import MemoryOperand, NoSemanticsError, Prefixes
from isoform.isa.x86_64.registers import X87, X87_CONTROL, X87_DEPTH
from isoform.isa.x86_64.x87_numbers import DEFAULT_NAN, SIZE
from isoform.model.microop import Space, Var, const

_REGISTERS = 8
_REST = SIZE * (_REGISTERS - 1)
_ST = tuple(Var(Space.REGISTER, X87.offset + SIZE * n, SIZE) for n in range(_REGISTERS))

Arithmetic = Callable[[Builder, Var, Var], Var]


# The stack


def _in_use(b: Builder, number: int) -> Var:
    return b.below(const(number, 1), X87_DEPTH)


def _read(b: Builder, number: int) -> Var:
    return b.select(_in_use(b, number), _ST[number], DEFAULT_NAN)


def _write(b: Builder, number: int, value: Var) -> None:
    """Registers beyond those in use are not represented: a write to one leaves all of them undefined."""
    can_be_shown = b.below_or_equal(const(number, 1), X87_DEPTH)
    b.set(_ST[number], value)
    b.set(X87_DEPTH, b.select(b.equal(X87_DEPTH, number), b.add(X87_DEPTH, 1), X87_DEPTH))
    if number:
        b.set(X87, b.select(can_be_shown, X87, b.undefined(X87.size)))


def _push(b: Builder, value: Var) -> None:
    room = b.below(X87_DEPTH, const(_REGISTERS, 1))
    value = b.select(room, value, DEFAULT_NAN)
    b.set(Var(Space.REGISTER, X87.offset + SIZE, _REST), b.hold(Var(Space.REGISTER, X87.offset, _REST)))
    b.set(_ST[0], value)
    b.set(X87_DEPTH, b.select(room, b.add(X87_DEPTH, 1), X87_DEPTH))


def _pop(b: Builder) -> None:
    b.set(Var(Space.REGISTER, X87.offset, _REST), b.hold(Var(Space.REGISTER, X87.offset + SIZE, _REST)))
    b.set(_ST[-1], 0)
    b.set(X87_DEPTH, b.select(b.equal(X87_DEPTH, 0), X87_DEPTH, b.sub(X87_DEPTH, 1)))


# Arithmetic, by the middle field of ModRM


def _reversed(operator: Arithmetic) -> Arithmetic:
    return lambda b, x, y: operator(b, y, x)


_ARITHMETIC: Mapping[int, Arithmetic] = {
    0: numbers.add,
    1: numbers.multiply,
    4: numbers.subtract,
    5: _reversed(numbers.subtract),
    6: numbers.divide,
    7: _reversed(numbers.divide),
}
"""On the top of the stack and the other operand."""


def _operator(field: int) -> Arithmetic:
    if field not in _ARITHMETIC:
        raise NoSemanticsError
    return _ARITHMETIC[field]


def _compute(b: Builder, field: int, target: int, other: Var, other_in_use: Var | None) -> None:
    """An operand that is not in use gives the default NaN, whatever the other one is."""
    usable = _in_use(b, 0)
    if other_in_use is not None:
        usable = b.both(usable, other_in_use)
    result = _operator(field)(b, b.hold(_read(b, 0)), other)
    _write(b, target, b.select(usable, result, DEFAULT_NAN))


def _with_register(target_is_top: bool, popping: bool) -> Callable[[Builder, int, int], None]:
    def semantics(b: Builder, field: int, number: int) -> None:
        other = b.hold(_read(b, number))
        _compute(b, field, 0 if target_is_top else number, other, _in_use(b, number))
        if popping:
            _pop(b)

    return semantics


def _compare(b: Builder, number: int, popping: bool) -> None:
    unordered, equal, less = numbers.compare(b, b.hold(_read(b, 0)), b.hold(_read(b, number)))
    b.set(ZF, b.either(unordered, equal))
    b.set(CF, b.either(unordered, less))
    b.set(PF, unordered)
    for flag in (OF, SF):
        b.set(flag, 0)
    if popping:
        _pop(b)


# Moves


def _store_register(b: Builder, number: int, popping: bool) -> None:
    _write(b, number, b.hold(_read(b, 0)))
    if popping:
        _pop(b)


def _exchange(b: Builder, number: int) -> None:
    first, second = b.hold(_read(b, 0)), b.hold(_read(b, number))
    _write(b, 0, second)
    _write(b, number, first)


def _change_sign(b: Builder, operator: Callable[[Builder, Var, int], Var], mask: int) -> None:
    value = operator(b, _ST[0], mask)
    _write(b, 0, b.select(_in_use(b, 0), value, DEFAULT_NAN))


_SIGN = 1 << 79
_CONSTANTS = {
    0xE8: 0x3FFF_8000_0000_0000_0000,
    0xE9: 0x4000_D49A_784B_CD1B_8AFE,
    0xEA: 0x3FFF_B8AA_3B29_5C17_F0BC,
    0xEB: 0x4000_C90F_DAA2_2168_C235,
    0xEC: 0x3FFD_9A20_9A84_FBCF_F799,
    0xED: 0x3FFE_B172_17F7_D1CF_79AC,
    0xEE: 0,
}
"""1, the logarithms of 10 and e to base 2, pi, those of 2 to base 10 and e, and 0."""


def _on_registers(b: Builder, opcode: int, modrm: int) -> None:
    field, number = modrm >> 3 & 7, modrm & 7
    match opcode, field:
        case 0xD8, _:
            _with_register(target_is_top=True, popping=False)(b, field, number)
        case ((0xDC | 0xDE), _):
            _with_register(target_is_top=False, popping=opcode == 0xDE)(b, field, number)
        case 0xD9, 0:
            _push(b, _read(b, number))
        case 0xD9, 1:
            _exchange(b, number)
        case 0xD9, 4 if number == 0:
            _change_sign(b, Builder.xor, _SIGN)
        case 0xD9, 4 if number == 1:
            _change_sign(b, Builder.and_, _SIGN - 1)
        case 0xD9, 5 if modrm in _CONSTANTS:
            _push(b, const(_CONSTANTS[modrm], SIZE))
        case ((0xDB | 0xDF), (5 | 6)):
            _compare(b, number, popping=opcode == 0xDF)
        case 0xDD, (2 | 3):
            _store_register(b, number, popping=field == 3)
        case _:
            raise NoSemanticsError


# Memory

_INTEGERS = {0xDB: 4, 0xDF: 2}
_FLOATS = {0xD9: 4, 0xDD: 8}


def _on_memory(b: Builder, opcode: int, field: int, memory: MemoryOperand) -> None:
    match opcode, field:
        case ((0xD8 | 0xDC), _):
            value = b.read(memory, 4 if opcode == 0xD8 else 8)
            _compute(b, field, 0, numbers.from_float(b, value, signalling=True), None)
        case ((0xDA | 0xDE), _):
            _compute(b, field, 0, numbers.from_integer(b, b.read(memory, 4 if opcode == 0xDA else 2)), None)
        case ((0xD9 | 0xDD), 0):
            _push(b, numbers.from_float(b, b.read(memory, _FLOATS[opcode])))
        case ((0xD9 | 0xDD), (2 | 3)):
            _store(b, memory, numbers.to_float(b, b.hold(_read(b, 0)), _FLOATS[opcode]), popping=field == 3)
        case 0xD9, 7:
            b.write(memory, X87_CONTROL)
        case ((0xDB | 0xDF), 0):
            _push(b, numbers.from_integer(b, b.read(memory, _INTEGERS[opcode])))
        case 0xDF, 5:
            _push(b, numbers.from_integer(b, b.read(memory, 8)))
        case 0xDB, 5:
            _push(b, b.read(memory, SIZE))
        case 0xDB, 7:
            _store(b, memory, _read(b, 0), popping=True)
        case ((0xDB | 0xDD | 0xDF), 1):
            _store_integer(b, memory, _INTEGERS.get(opcode, 8), truncated=True, popping=True)
        case ((0xDB | 0xDF), (2 | 3)):
            _store_integer(b, memory, _INTEGERS[opcode], truncated=False, popping=field == 3)
        case 0xDF, 7:
            _store_integer(b, memory, 8, truncated=False, popping=True)
        case _:
            raise NoSemanticsError


def _store(b: Builder, memory: MemoryOperand, value: Var, popping: bool) -> None:
    b.write(memory, value)
    if popping:
        _pop(b)


def _store_integer(b: Builder, memory: MemoryOperand, size: int, truncated: bool, popping: bool) -> None:
    _store(b, memory, numbers.to_integer(b, b.hold(_read(b, 0)), size, truncated), popping)


def emit(b: Builder, decoded: Decoded, found: Prefixes) -> None:
    if found.operand_size or found.repeats or found.address_size:
        raise NoSemanticsError
    opcode, modrm = decoded.code[found.opcode_at : found.opcode_at + 2]
    if modrm >= 0xC0:
        _on_registers(b, opcode, modrm)
    else:
        _on_memory(b, opcode, modrm >> 3 & 7, memory_operand(decoded, found))
