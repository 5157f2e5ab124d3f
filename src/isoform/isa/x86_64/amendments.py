"""The meaning of x86-64 instructions. SLEIGH decodes; what an instruction does comes from the tables here.

SLEIGH's own semantics of this machine are wrong in too many places to be kept (DESIGN section 3), so nothing is
taken from them: an instruction that is in no table, or in a form that its entry does not know, has none.
`./scripts/semantics x86_64` holds every entry against independent CPUs.
"""

from __future__ import annotations

from isoform.isa.sleigh import Decoded
from isoform.isa.x86_64 import bits, control, integer, moves, shifts, strings, vector_table
from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.encoded import operands
from isoform.isa.x86_64.integer import Semantics
from isoform.isa.x86_64.operands import (
    EVEX,
    ImmediateOperand,
    MemoryOperand,
    NoSemanticsError,
    Operand,
    Prefixes,
    Register,
    prefixes,
)
from isoform.isa.x86_64.sha import SHA
from isoform.model.microop import Kind, MicroOp

_UNSUPPORTED = (MicroOp(Kind.UNSUPPORTED, None, ()),)
_GENERAL: dict[str, Semantics] = {
    **moves.TABLE,
    **integer.TABLE,
    **shifts.TABLE,
    **bits.TABLE,
    **control.TABLE,
}
_REPEATS = ("REP", "REPE", "REPNE")
_IGNORED_SUFFIXES = frozenset({"LOCK"})
"""A function runs alone here."""
_LOCKED = frozenset(
    {"ADD", "OR", "ADC", "SBB", "AND", "SUB", "XOR", "INC", "DEC", "NOT", "NEG", "XADD", "XCHG", "BTS", "BTR", "BTC"}
    | {"CMPXCHG", "CMPXCHG8B", "CMPXCHG16B"}
)
"""With a target in memory; elsewhere a `lock` prefix is a fault."""
_WITHOUT_OPERAND_SIZE = frozenset(
    {"BSWAP", "MOVNTI", "LEAVE", "ENTER", "ADOX", "LFENCE", "MFENCE", "SFENCE", "ENDBR64"}
)
_WITHOUT_REPEAT = frozenset({"MOVNTI", "MOVBE", "ADCX", "CMPXCHG8B", "CMPXCHG16B", "LFENCE", "MFENCE", "SFENCE"})
_IMPLIED_ADDRESS = frozenset({"LOOP", "LOOPZ", "LOOPNZ", "XLAT", "MASKMOVDQU", "VMASKMOVDQU"})
_X87 = range(0xD8, 0xE0)
_NOP_OR_EXCHANGE = 0x90
_LENGTHS_IN_REGISTERS = frozenset({"PCMPESTRI", "PCMPESTRM", "VPCMPESTRI", "VPCMPESTRM"})
_LONG_VEX = 0xC4


def amend(decoded: Decoded) -> tuple[MicroOp, ...]:
    """The micro-ops of an instruction; a single UNSUPPORTED if it has no semantics."""
    try:
        return _semantics(decoded)
    except NoSemanticsError:
        return _UNSUPPORTED


def _semantics(decoded: Decoded) -> tuple[MicroOp, ...]:
    name, *suffixes = decoded.mnemonic.upper().split(".")
    found = prefixes(decoded.code)
    if found.opcode in _X87:
        return _x87(decoded, found)
    if (
        _is_misread(name, found)
        or _is_misnamed(name, found, decoded.code)
        or _has_wide_lengths(name, found, decoded.code)
    ):
        raise NoSemanticsError
    b = Builder(decoded.address, decoded.length)
    repeat = next((s for s in suffixes if s in _REPEATS), "")
    if not frozenset(suffixes) <= _IGNORED_SUFFIXES | {repeat}:
        raise NoSemanticsError
    arguments = operands(decoded, found)
    if found.lock and not (name in _LOCKED and isinstance(arguments[0], MemoryOperand)):
        raise NoSemanticsError
    string = strings.find(name, found.rex_wide) if _are_pointers(arguments) else None
    if string is not None:
        if found.segment or found.address_size:
            raise NoSemanticsError
        strings.emit(b, *string, repeat)
    elif repeat:
        raise NoSemanticsError
    else:
        _apply(b, name, found, arguments)
    return b.finish()


def _x87(decoded: Decoded, found: Prefixes) -> tuple[MicroOp, ...]:
    """Imported only if there is such code, which few functions have."""
    if found.lock or found.doubled:
        raise NoSemanticsError
    from isoform.isa.x86_64 import x87

    b = Builder(decoded.address, decoded.length)
    x87.emit(b, decoded, found)
    return b.finish()


def _are_pointers(arguments: tuple[Operand, ...]) -> bool:
    """Whether the operands are the pointers of a string instruction: `movsd` and `cmpsd` are also vector
    instructions."""
    pointers = (Register(strings.RDI), Register(strings.RSI))
    return bool(arguments) and all(argument in pointers for argument in arguments)


def _apply(b: Builder, name: str, found: Prefixes, arguments: tuple[Operand, ...]) -> None:
    semantics = _GENERAL.get(name) or _vector(name)
    if semantics is None:
        raise NoSemanticsError
    if name == "PUSH" and found.operand_size and not found.rex_wide and isinstance(arguments[0], ImmediateOperand):
        arguments = (ImmediateOperand(arguments[0].value, size=2),)
    semantics(b, *arguments)


def _vector(name: str) -> Semantics | None:
    found = vector_table.find(name)
    if found is None:
        return None
    semantics, vex = found
    return lambda b, *arguments: semantics(b, vex, *arguments)


def _has_wide_lengths(name: str, found: Prefixes, code: bytes) -> bool:
    """Whether the string lengths are all of rax and rdx, which the disassembly does not show."""
    vex_wide = found.opcode == _LONG_VEX and bool(code[code.index(_LONG_VEX) + 2] & 0x80)
    return name in _LENGTHS_IN_REGISTERS and (found.rex_wide or vex_wide)


def _is_misnamed(name: str, found: Prefixes, code: bytes) -> bool:
    """After `lock`, SLEIGH gives this name to every member of the group of `inc`."""
    return name == "INC" and found.lock and bool(code[found.opcode_at + 1] >> 3 & 7)


def _is_misread(name: str, found: Prefixes) -> bool:
    """Whether SLEIGH may decode the bytes differently from a processor, or show them only in part. Compilers emit none
    of these; each was found by comparing with a processor."""
    return (
        found.opcode == EVEX
        or found.repeats > 1
        or (found.lock and found.repeats > 0)
        or (found.doubled and name != "NOP" and not (name == "CALL" and found.rex_wide))
        # Vendors differ on branches with a 16-bit operand size.
        or (name in control.TABLE and found.operand_size and not found.rex_wide)
        or (name in _IMPLIED_ADDRESS and (found.address_size or bool(found.segment)))
        or (name in _WITHOUT_OPERAND_SIZE and found.operand_size)
        or (name in _WITHOUT_REPEAT and found.repeats > 0)
        or (name in SHA and (found.operand_size or found.repeats > 0))
        or (name in ("PAUSE", "XCHG") and found.opcode == _NOP_OR_EXCHANGE and found.rex_low != (name == "XCHG"))
        or (_vector(name) is not None and (found.address_size or (found.operand_size and found.repeats > 0)))
    )
