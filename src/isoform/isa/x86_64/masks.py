"""Instructions on the mask registers k0 to k7, decoded from their bytes, with their meaning.

All have a VEX encoding. A result is narrower than its register and is extended with zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.flags import CF, OF, PF, SF, ZF
from isoform.isa.x86_64.modrm import ModRM, general, mask, memory, read_modrm, read_number, shown
from isoform.isa.x86_64.operands import ImmediateOperand, MemoryOperand, NoSemanticsError, Operand, Register
from isoform.isa.x86_64.vex import FIRST_MAP, THIRD_MAP, VEX_THREE, VEX_TWO, VexPrefix, read_vex
from isoform.model.microop import Instruction, Var, const

_FULL = 8
_FIRST_OPCODES = frozenset({0x41, 0x42, 0x44, 0x45, 0x46, 0x47, 0x4A, 0x4B, 0x90, 0x91, 0x92, 0x93, 0x98, 0x99})
_THIRD_OPCODES = frozenset({0x30, 0x31, 0x32, 0x33})

Meaning = Callable[..., None]
"""Takes the builder, the width in bytes and the operands."""


class _Form(NamedTuple):
    name: str
    size: int
    meaning: Meaning
    operands: str
    """K in ModRM's reg field, H in VEX.vvvv, Q in ModRM's rm field, M in memory; R and G general registers in rm and
    reg; I an immediate."""


def is_mask(code: bytes) -> bool:
    """By the first bytes: no other VEX instruction has these opcodes."""
    if len(code) < 4:
        return False
    if code[0] == VEX_TWO:
        return code[2] in _FIRST_OPCODES
    if code[0] != VEX_THREE:
        return False
    table = code[1] & 31
    return (table == FIRST_MAP and code[3] in _FIRST_OPCODES) or (table == THIRD_MAP and code[3] in _THIRD_OPCODES)


def decode(code: bytes, address: int) -> Instruction:
    """The instruction with its meaning; raises `NoSemanticsError` if processors may fault on the bytes."""
    if not is_mask(code):
        raise NoSemanticsError
    prefix = read_vex(code, 0)
    modrm = read_modrm(code, prefix.length, prefix.index, prefix.base)
    in_memory = modrm.address is not None
    form = _FORMS.get((prefix.table, prefix.opcode, prefix.mandatory, prefix.wide, prefix.long, in_memory))
    if form is None:
        raise NoSemanticsError
    operands, length = _operands(code, address, prefix, modrm, form)
    b = Builder(address, length)
    form.meaning(b, form.size, *operands)
    text = f"{form.name.lower()} {','.join(shown(operand) for operand in operands)}"
    return Instruction(address, length, text, b.finish())


def _operands(code: bytes, address: int, prefix: VexPrefix, modrm: ModRM, form: _Form) -> tuple[list[Operand], int]:
    at = prefix.length + modrm.length
    length = at + ("I" in form.operands)
    if ("H" not in form.operands and prefix.second) or (modrm.address is None and prefix.index):
        raise NoSemanticsError
    found: list[Operand] = []
    for letter in form.operands:
        if letter == "K":
            found.append(mask(modrm.reg | prefix.reg << 3))
        elif letter == "H":
            found.append(mask(prefix.second))
        elif letter == "Q":
            found.append(mask(modrm.rm | prefix.base << 3))
        elif letter == "R":
            found.append(general(modrm.rm | prefix.base << 3, max(4, form.size)))
        elif letter == "G":
            found.append(general(modrm.reg | prefix.reg << 3, max(4, form.size)))
        elif letter == "I":
            found.append(ImmediateOperand(read_number(code, at, 1, signed=False)))
        else:
            assert modrm.address is not None
            found.append(memory(modrm.address, form.size, address + length))
    return found, length


# What they do


def _read(b: Builder, operand: Operand, size: int) -> Var:
    return b.read(operand, size)


def _write(b: Builder, target: Operand, value: Var) -> None:
    if not isinstance(target, Register):
        raise NoSemanticsError
    b.set(target.var, b.zext(value, _FULL))


def _binary(operator: Callable[[Builder, Var, Var], Var]) -> Meaning:
    def meaning(b: Builder, size: int, target: Operand, first: Operand, second: Operand) -> None:
        _write(b, target, operator(b, _read(b, first, size), _read(b, second, size)))

    return meaning


def _and_not(b: Builder, inverted: Var, other: Var) -> Var:
    return b.and_(b.not_(inverted), other)


def _equivalence(b: Builder, left: Var, right: Var) -> Var:
    return b.not_(b.xor(left, right))


def _join(b: Builder, upper: Var, lower: Var) -> Var:
    """`kunpck`: the concatenated low halves."""
    half = upper.size // 2
    return b.join(b.piece(lower, 0, half), b.piece(upper, 0, half))


def _not(b: Builder, size: int, target: Operand, source: Operand) -> None:
    _write(b, target, b.not_(_read(b, source, size)))


def _move(b: Builder, size: int, target: Operand, source: Operand) -> None:
    value = _read(b, source, size)
    if isinstance(target, MemoryOperand):
        b.write(target, value)
    elif isinstance(target, Register) and target.var.size < _FULL:
        b.write(target, b.zext(value, target.var.size))
    else:
        _write(b, target, value)


def _shift(operator: Callable[[Builder, Var, int], Var]) -> Meaning:
    def meaning(b: Builder, size: int, target: Operand, source: Operand, count: Operand) -> None:
        if not isinstance(count, ImmediateOperand):
            raise NoSemanticsError
        _write(b, target, operator(b, _read(b, source, size), count.value))

    return meaning


def _set_flags(b: Builder, zero: Var, carry: Var) -> None:
    b.set(ZF, zero)
    b.set(CF, carry)
    for flag in (OF, SF, PF):
        b.set(flag, 0)


def _or_test(b: Builder, size: int, first: Operand, second: Operand) -> None:
    either = b.or_(_read(b, first, size), _read(b, second, size))
    _set_flags(b, b.equal(either, 0), b.equal(either, const(-1, size)))


def _test(b: Builder, size: int, first: Operand, second: Operand) -> None:
    left, right = _read(b, first, size), _read(b, second, size)
    _set_flags(b, b.equal(b.and_(left, right), 0), b.equal(_and_not(b, left, right), 0))


# By opcode

_NONE, _66, _F2 = 0, 1, 3
_WIDTHS: Mapping[str, tuple[int, int, int]] = {
    "B": (_66, 0, 1),
    "W": (_NONE, 0, 2),
    "D": (_66, 1, 4),
    "Q": (_NONE, 1, 8),
}
"""Mandatory prefix, W and bytes of the suffixes."""
_GENERAL_WIDTHS: Mapping[str, tuple[int, int, int]] = {
    "B": (_66, 0, 1),
    "W": (_NONE, 0, 2),
    "D": (_F2, 0, 4),
    "Q": (_F2, 1, 8),
}
_UNPACK_WIDTHS: Mapping[str, tuple[int, int, int]] = {"BW": (_66, 0, 2), "WD": (_NONE, 0, 4), "DQ": (_NONE, 1, 8)}
_SHIFT_WIDTHS: Mapping[str, tuple[int, int, int]] = {"B": (0, 0, 1), "W": (0, 1, 2), "D": (1, 0, 4), "Q": (1, 1, 8)}
"""Distance of the opcode, W and bytes."""
_BINARY: Mapping[str, tuple[int, Meaning]] = {
    "KAND": (0x41, _binary(Builder.and_)),
    "KANDN": (0x42, _binary(_and_not)),
    "KOR": (0x45, _binary(Builder.or_)),
    "KXNOR": (0x46, _binary(_equivalence)),
    "KXOR": (0x47, _binary(Builder.xor)),
    "KADD": (0x4A, _binary(Builder.add)),
}
_UNARY: tuple[tuple[str, int, Meaning, str], ...] = (
    ("KNOT", 0x44, _not, "KQ"),
    ("KMOV", 0x90, _move, "KQ"),
    ("KMOV", 0x90, _move, "KM"),
    ("KMOV", 0x91, _move, "MK"),
    ("KORTEST", 0x98, _or_test, "KQ"),
    ("KTEST", 0x99, _test, "KQ"),
)
_SHIFTS: Mapping[str, tuple[int, Meaning]] = {
    "KSHIFTR": (0x30, _shift(Builder.shr)),
    "KSHIFTL": (0x32, _shift(Builder.shl)),
}

_Key = tuple[int, int, int, int, int, bool]
"""Opcode map, opcode, mandatory prefix, W, L, and whether ModRM names memory."""


def _forms() -> Iterator[tuple[_Key, _Form]]:
    for suffix, (mandatory, wide, size) in _WIDTHS.items():
        for name, (opcode, meaning) in _BINARY.items():
            yield (FIRST_MAP, opcode, mandatory, wide, 1, False), _Form(name + suffix, size, meaning, "KHQ")
        for name, opcode, meaning, operands in _UNARY:
            yield (
                (FIRST_MAP, opcode, mandatory, wide, 0, "M" in operands),
                _Form(name + suffix, size, meaning, operands),
            )
    for suffix, (mandatory, wide, size) in _UNPACK_WIDTHS.items():
        yield (FIRST_MAP, 0x4B, mandatory, wide, 1, False), _Form(f"KUNPCK{suffix}", size, _binary(_join), "KHQ")
    for suffix, (mandatory, wide, size) in _GENERAL_WIDTHS.items():
        yield (FIRST_MAP, 0x92, mandatory, wide, 0, False), _Form(f"KMOV{suffix}", size, _move, "KR")
        yield (FIRST_MAP, 0x93, mandatory, wide, 0, False), _Form(f"KMOV{suffix}", size, _move, "GQ")
    for suffix, (distance, wide, size) in _SHIFT_WIDTHS.items():
        for name, (opcode, meaning) in _SHIFTS.items():
            yield (THIRD_MAP, opcode + distance, _66, wide, 0, False), _Form(name + suffix, size, meaning, "KQI")


_FORMS: Mapping[_Key, _Form] = dict(_forms())
