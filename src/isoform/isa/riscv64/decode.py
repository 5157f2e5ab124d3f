"""RV64I with M: what each instruction does (The RISC-V Instruction Set Manual, volume I). All others (floating-point
instructions, atomics, control registers) have no semantics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from isoform.isa.emitter import Emitter
from isoform.isa.riscv64.compressed import expanded
from isoform.isa.riscv64.registers import LINK, NAMES, register
from isoform.model.microop import TRUE, Instruction, Kind, MicroOp, Var, abort_reason, code, const

_LONG, _SHORT = 4, 2
"""Bytes of a full and of a compressed instruction."""
_UNIMPLEMENTED = 0xC000_1073
"""The assembler's encoding of `unimp`: a write to a register that cannot be written."""
_LOAD, _ADD_IMMEDIATE, _STORE = 0x03, 0x13, 0x23
_BREAK, _FENCE_TSO = 0x0010_0073, 0x8330_000F


class Fields(NamedTuple):
    """The fields of one instruction word."""

    word: int
    address: int
    length: int

    @property
    def following(self) -> int:
        return self.address + self.length

    def bits(self, high: int, low: int) -> int:
        return self.word >> low & ((1 << (high - low + 1)) - 1)

    @property
    def opcode(self) -> int:
        return self.bits(6, 0)

    @property
    def rd(self) -> int:
        return self.bits(11, 7)

    @property
    def rs1(self) -> int:
        return self.bits(19, 15)

    @property
    def rs2(self) -> int:
        return self.bits(24, 20)

    @property
    def funct3(self) -> int:
        return self.bits(14, 12)

    @property
    def funct7(self) -> int:
        return self.bits(31, 25)

    @property
    def immediate(self) -> int:
        """The immediate of an instruction with one source register."""
        return _signed(self.bits(31, 20), 12)

    @property
    def store_offset(self) -> int:
        return _signed(self.bits(31, 25) << 5 | self.bits(11, 7), 12)

    @property
    def branch_target(self) -> int:
        distance = self.bits(31, 31) << 12 | self.bits(7, 7) << 11 | self.bits(30, 25) << 5 | self.bits(11, 8) << 1
        return self.address + _signed(distance, 13)

    @property
    def jump_target(self) -> int:
        distance = self.bits(31, 31) << 20 | self.bits(19, 12) << 12 | self.bits(20, 20) << 11 | self.bits(30, 21) << 1
        return self.address + _signed(distance, 21)

    @property
    def upper(self) -> int:
        return _signed(self.word & 0xFFFF_F000, 32)


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


class _Emitter(Emitter):
    def write(self, number: int, kind: Kind, *ins: Var) -> None:
        """Write a register; a write to `zero` is ignored."""
        if number:
            self.ops.append(MicroOp(kind, register(number), ins))


Compute = Callable[[_Emitter, Var, Var], Var]
"""The result of an operation on two numbers of one size."""


def _plain(kind: Kind) -> Compute:
    return lambda emit, left, right: emit.compute(kind, left.size, left, right)


def _shift(kind: Kind) -> Compute:
    def compute(emit: _Emitter, left: Var, right: Var) -> Var:
        count = emit.compute(Kind.INT_AND, right.size, right, const(8 * left.size - 1, right.size))
        return emit.compute(kind, left.size, left, count)

    return compute


def _comparison(kind: Kind) -> Compute:
    return lambda emit, left, right: emit.compute(Kind.INT_ZEXT, left.size, emit.compute(kind, 1, left, right))


def _high_half(left_extension: Kind, right_extension: Kind) -> Compute:
    def compute(emit: _Emitter, left: Var, right: Var) -> Var:
        factors = emit.compute(left_extension, 16, left), emit.compute(right_extension, 16, right)
        product = emit.compute(Kind.INT_MULT, 16, *factors)
        return emit.compute(Kind.SUBPIECE, 8, product, const(8, 4))

    return compute


def _signed_quotient(emit: _Emitter, left: Var, right: Var) -> Var:
    """Division by zero gives -1. Other divisions, and remainders, agree with SMT-LIB's operators."""
    quotient = emit.compute(Kind.INT_SDIV, left.size, left, right)
    by_zero = emit.compute(Kind.INT_EQUAL, 1, right, const(0, right.size))
    return emit.compute(Kind.SELECT, left.size, by_zero, const(-1, left.size), quotient)


COMPUTATIONS: dict[str, Compute] = {
    "add": _plain(Kind.INT_ADD),
    "sub": _plain(Kind.INT_SUB),
    "xor": _plain(Kind.INT_XOR),
    "or": _plain(Kind.INT_OR),
    "and": _plain(Kind.INT_AND),
    "sll": _shift(Kind.INT_LEFT),
    "srl": _shift(Kind.INT_RIGHT),
    "sra": _shift(Kind.INT_SRIGHT),
    "slt": _comparison(Kind.INT_SLESS),
    "sltu": _comparison(Kind.INT_LESS),
    "mul": _plain(Kind.INT_MULT),
    "mulh": _high_half(Kind.INT_SEXT, Kind.INT_SEXT),
    "mulhsu": _high_half(Kind.INT_SEXT, Kind.INT_ZEXT),
    "mulhu": _high_half(Kind.INT_ZEXT, Kind.INT_ZEXT),
    "div": _signed_quotient,
    "divu": _plain(Kind.INT_DIV),
    "rem": _plain(Kind.INT_SREM),
    "remu": _plain(Kind.INT_REM),
}

_BASE = ("add", "sll", "slt", "sltu", "xor", "srl", "or", "and")
_MULTIPLYING = ("mul", "mulh", "mulhsu", "mulhu", "div", "divu", "rem", "remu")
REGISTER_FORMS = {
    **{(number, 0x00): name for number, name in enumerate(_BASE)},
    **{(number, 0x01): name for number, name in enumerate(_MULTIPLYING)},
    (0, 0x20): "sub",
    (5, 0x20): "sra",
}
"""Computations by funct3 and funct7."""
WORD_FORMS = frozenset({"add", "sub", "sll", "srl", "sra", "mul", "div", "divu", "rem", "remu"})
"""Those that also exist for 32 bits."""
BRANCHES = {
    0: ("beq", Kind.INT_EQUAL, False),
    1: ("bne", Kind.INT_NOTEQUAL, False),
    4: ("blt", Kind.INT_SLESS, False),
    5: ("bge", Kind.INT_SLESSEQUAL, True),
    6: ("bltu", Kind.INT_LESS, False),
    7: ("bgeu", Kind.INT_LESSEQUAL, True),
}
"""By funct3: name, comparison, and whether its operands are swapped."""
LOADS = {
    0: ("lb", 1, Kind.INT_SEXT),
    1: ("lh", 2, Kind.INT_SEXT),
    2: ("lw", 4, Kind.INT_SEXT),
    3: ("ld", 8, Kind.COPY),
    4: ("lbu", 1, Kind.INT_ZEXT),
    5: ("lhu", 2, Kind.INT_ZEXT),
    6: ("lwu", 4, Kind.INT_ZEXT),
}
STORES = {0: ("sb", 1), 1: ("sh", 2), 2: ("sw", 4), 3: ("sd", 8)}


Lifted = tuple[str, list[MicroOp]]
"""The text of an instruction, and what it does."""


def decode(code: bytes, address: int) -> Instruction:
    if len(code) < _SHORT:
        return _other(address, _LONG, "(no instruction)", _NO_SEMANTICS)
    is_long = code[0] & 3 == 3
    length = _LONG if is_long else _SHORT
    word = int.from_bytes(code[:length].ljust(length, b"\0"), "little")
    if not word:
        return _other(address, length, "unimp", _UNDEFINED)
    full = word if is_long else expanded(word)
    found = _lift(Fields(full, address, length)) if full is not None else None
    if found is None:
        return _other(address, length, f".{'word' if is_long else 'half'} {word:#0{2 + 2 * length}x}", _NO_SEMANTICS)
    return Instruction(address, length, found[0], tuple(found[1]))


def decode_part(code: bytes, address: int, whole: Var | None) -> Instruction:
    """An instruction with a part of an address: see `PartDecoder`."""
    plain = decode(code, address)
    fields = Fields(int.from_bytes(code[:_LONG], "little"), address, plain.length)
    emit = _Emitter()
    if whole is None:
        emit.ops.append(MicroOp(Kind.UNDEFINED, register(fields.rd), ()))
        return replace(plain, ops=tuple(emit.ops) if fields.rd else ())
    emit.compute(Kind.COPY, 8, register(fields.rs1))
    if fields.opcode == _ADD_IMMEDIATE and fields.funct3 == 0:
        emit.write(fields.rd, Kind.COPY, whole)
    elif fields.opcode == _LOAD and fields.funct3 in LOADS:
        _, size, extension = LOADS[fields.funct3]
        emit.write(fields.rd, extension, emit.compute(Kind.LOAD, size, whole))
    elif fields.opcode == _STORE and fields.funct3 in STORES:
        emit.do(Kind.STORE, whole, register(fields.rs2, STORES[fields.funct3][1]))
    else:
        return _other(address, plain.length, plain.text, _NO_SEMANTICS)
    return replace(plain, ops=tuple(emit.ops))


_NO_SEMANTICS = MicroOp(Kind.UNSUPPORTED, None, ())
_UNDEFINED = MicroOp(Kind.ABORT, None, (TRUE, abort_reason("undefined instruction")))
"""The half-word of zeros, which is an illegal instruction with all extensions."""


def _other(address: int, length: int, text: str, does: MicroOp) -> Instruction:
    return Instruction(address, length, text, (does,))


def _lift(fields: Fields) -> Lifted | None:
    found = _OPCODES.get(fields.opcode)
    return found(fields) if found is not None else None


def _register_form(fields: Fields) -> Lifted | None:
    name = REGISTER_FORMS.get((fields.funct3, fields.funct7))
    if name is None:
        return None
    emit = _Emitter()
    emit.write(fields.rd, Kind.COPY, COMPUTATIONS[name](emit, register(fields.rs1), register(fields.rs2)))
    return f"{name} {_named(fields.rd, fields.rs1, fields.rs2)}", emit.ops


def _word_form(fields: Fields) -> Lifted | None:
    name = REGISTER_FORMS.get((fields.funct3, fields.funct7))
    if name not in WORD_FORMS:
        return None
    emit = _Emitter()
    left, right = register(fields.rs1, 4), register(fields.rs2, 4)
    emit.write(fields.rd, Kind.INT_SEXT, COMPUTATIONS[name](emit, left, right))
    return f"{name}w {_named(fields.rd, fields.rs1, fields.rs2)}", emit.ops


def _immediate_form(fields: Fields, size: int = 8) -> Lifted | None:
    """The lower bits of a shift's immediate are its count; the upper bits select the shift."""
    is_shift, count_bits = fields.funct3 in (1, 5), 6 if size == 8 else 5
    kind = fields.bits(31, 20 + count_bits) << count_bits >> 5 if is_shift else 0
    name = REGISTER_FORMS.get((fields.funct3, kind))
    if name is None or (size == 4 and name not in WORD_FORMS) or kind not in (0x00, 0x20):
        return None
    number = fields.bits(19 + count_bits, 20) if is_shift else fields.immediate
    emit = _Emitter()
    result = COMPUTATIONS[name](emit, register(fields.rs1, size), const(number, size))
    emit.write(fields.rd, Kind.COPY if size == 8 else Kind.INT_SEXT, result)
    suffix = "iu" if name == "sltu" else "i"
    shown = f"{name.removesuffix('u')}{suffix}{'w' if size == 4 else ''}"
    return f"{shown} {_named(fields.rd, fields.rs1)}, {number}", emit.ops


def _load(fields: Fields) -> Lifted | None:
    if fields.funct3 not in LOADS:
        return None
    name, size, extension = LOADS[fields.funct3]
    emit = _Emitter()
    emit.write(fields.rd, extension, emit.compute(Kind.LOAD, size, _address(emit, fields, fields.immediate)))
    return f"{name} {NAMES[fields.rd]}, {fields.immediate}({NAMES[fields.rs1]})", emit.ops


def _store(fields: Fields) -> Lifted | None:
    if fields.funct3 not in STORES:
        return None
    name, size = STORES[fields.funct3]
    emit = _Emitter()
    emit.do(Kind.STORE, _address(emit, fields, fields.store_offset), register(fields.rs2, size))
    return f"{name} {NAMES[fields.rs2]}, {fields.store_offset}({NAMES[fields.rs1]})", emit.ops


def _address(emit: _Emitter, fields: Fields, offset: int) -> Var:
    base = register(fields.rs1)
    return emit.compute(Kind.INT_ADD, 8, base, const(offset, 8)) if offset else base


def _branch(fields: Fields) -> Lifted | None:
    if fields.funct3 not in BRANCHES:
        return None
    name, kind, is_swapped = BRANCHES[fields.funct3]
    left, right = register(fields.rs1), register(fields.rs2)
    emit = _Emitter()
    taken = emit.compute(kind, 1, *((right, left) if is_swapped else (left, right)))
    emit.do(Kind.CBRANCH, code(fields.branch_target), taken)
    return f"{name} {_named(fields.rs1, fields.rs2)}, {fields.branch_target:#x}", emit.ops


def _jump(fields: Fields) -> Lifted | None:
    """Only the usual link register is followed as a return address."""
    if fields.rd not in (0, LINK):
        return None
    emit = _Emitter()
    emit.write(fields.rd, Kind.COPY, const(fields.following, 8))
    emit.do(Kind.CALL if fields.rd else Kind.BRANCH, code(fields.jump_target))
    return (f"jal {fields.jump_target:#x}" if fields.rd else f"j {fields.jump_target:#x}"), emit.ops


def _jump_register(fields: Fields) -> Lifted | None:
    """The lowest bit of the sum is cleared. In a return address it is clear already: the caller's call set it."""
    if fields.funct3 or fields.rd not in (0, LINK):
        return None
    emit = _Emitter()
    if (fields.rd, fields.rs1, fields.immediate) == (0, LINK, 0):
        emit.do(Kind.RETURN, register(LINK))
        return "ret", emit.ops
    target = emit.compute(Kind.INT_AND, 8, _address(emit, fields, fields.immediate), const(-2, 8))
    emit.write(fields.rd, Kind.COPY, const(fields.following, 8))
    emit.do(Kind.CALLIND if fields.rd else Kind.BRANCHIND, target)
    name = "jalr" if fields.rd else "jr"
    return f"{name} {fields.immediate}({NAMES[fields.rs1]})", emit.ops


def _upper_immediate(fields: Fields) -> Lifted:
    emit = _Emitter()
    emit.write(fields.rd, Kind.COPY, const(fields.upper, 8))
    return f"lui {NAMES[fields.rd]}, {fields.bits(31, 12):#x}", emit.ops


def _upper_relative(fields: Fields) -> Lifted:
    emit = _Emitter()
    emit.write(fields.rd, Kind.COPY, const(fields.address + fields.upper, 8))
    return f"auipc {NAMES[fields.rd]}, {fields.bits(31, 12):#x}", emit.ops


def _fence(fields: Fields) -> Lifted | None:
    """There is one thread, which sees its own stores in order."""
    is_plain = fields.funct3 == 0 and fields.bits(31, 28) == 0
    return ("fence", []) if is_plain or fields.word == _FENCE_TSO else None


def _system(fields: Fields) -> Lifted | None:
    reasons = {_BREAK: ("ebreak", "trap"), _UNIMPLEMENTED: ("unimp", "undefined instruction")}
    if fields.word not in reasons:
        return None
    text, reason = reasons[fields.word]
    return text, [MicroOp(Kind.ABORT, None, (TRUE, abort_reason(reason)))]


def _named(*numbers: int) -> str:
    return ", ".join(NAMES[number] for number in numbers)


_OPCODES: dict[int, Callable[[Fields], Lifted | None]] = {
    0x03: _load,
    0x0F: _fence,
    0x13: _immediate_form,
    0x17: _upper_relative,
    0x1B: lambda fields: _immediate_form(fields, 4),
    0x23: _store,
    0x33: _register_form,
    0x37: _upper_immediate,
    0x3B: _word_form,
    0x63: _branch,
    0x67: _jump_register,
    0x6F: _jump,
    0x73: _system,
}
