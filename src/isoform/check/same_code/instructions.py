"""One instruction of x86-64: its bytes without the addresses in them, and what these addresses are."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import Any, NamedTuple

from isoform.load.image import Image

_ADDRESS_BYTES = 4
_STACK_CHECK = 0x28
"""The offset of the stack protector's number from the thread pointer."""
_REFUSED = (
    *("xbegin", "loop", "lcall", "ljmp", "retf", "iret", "fxsave", "xsave", "fnstenv", "fnsave", "syscall", "sys"),
    *("fxrstor", "xrstor", "frstor", "fldenv"),
)
"""How the names of instructions begin that use the address of code otherwise, lead outside the program, or read more
than capstone says."""
_BIT_STRINGS = ("bt", "bts", "btr", "btc")
"""With a register they access the bit that it says, however far from the address that is."""
_MASK = (1 << 64) - 1


class NotTheSame(Exception):
    """One sentence: why two functions cannot be confirmed to be the same code."""


class AddressUse(Enum):
    CALL = "call"
    JUMP = "jump"
    ACCESS = "access"
    FORM = "form"


class AddressInCode(NamedTuple):
    use: AddressUse
    number: int
    size: int
    """Bytes of an access."""


class PlainInstruction(NamedTuple):
    plain: bytes
    """With zeros in the place of addresses."""
    addresses: tuple[AddressInCode, ...]
    after: int
    continues: bool
    """Whether the next instruction may follow."""
    is_call: bool
    returns: bool
    jumps_anywhere: bool
    calls_anywhere: bool
    touches: bool
    """Whether it names memory by a register."""
    widest: int
    """Bytes of its largest operand in memory."""


def decode(image: Image, address: int) -> PlainInstruction:
    code = image.code_at(address)
    found = next(iter(_disassembler().disasm(code, address, 1)), None)
    if found is None:
        raise NotTheSame(f"the bytes at {address:#x} are no known instruction")
    if found.mnemonic.startswith(_REFUSED):
        raise NotTheSame(f"it has `{found.mnemonic}` at {address:#x}")
    if any(place in image.broken for place in range(address, address + found.size)):
        raise NotTheSame(f"a relocation at {address:#x} is not understood")
    fields = [*_fields(found, image)]
    plain = bytearray(code[: found.size])
    for offset, size, _ in fields:
        plain[offset : offset + size] = bytes(size)
    groups = _groups(found)
    is_jump = "jump" in groups
    is_always = found.mnemonic.split()[-1] == "jmp"
    direct = any(one.use in (AddressUse.CALL, AddressUse.JUMP) for _, _, one in fields)
    return PlainInstruction(
        plain=bytes(plain),
        addresses=tuple(one for _, _, one in fields),
        after=address + found.size,
        continues=not (is_always or "ret" in groups or found.mnemonic == "ud2"),
        is_call="call" in groups,
        returns="ret" in groups,
        jumps_anywhere=is_jump and not direct,
        calls_anywhere="call" in groups and not direct,
        touches=found.mnemonic not in ("lea", "nop") and any(map(_is_by_register, found.operands)),
        widest=max((operand.size for operand in found.operands if _is_memory(operand)), default=0),
    )


def _fields(found: Any, image: Image) -> Iterator[tuple[int, int, AddressInCode]]:
    """Where in the instruction each address is, how many bytes it has, and what it is."""
    from capstone.x86 import X86_OP_IMM, X86_OP_MEM, X86_REG_RIP

    encoding, end = found.encoding, found.address + found.size
    filled = {place - found.address for place in range(found.address, end) if place in image.relocated}
    groups = _groups(found)
    is_lea = found.mnemonic.split()[-1] == "lea"
    for operand in found.operands:
        if operand.type == X86_OP_MEM:
            _refuse_threads(operand.mem, found)
            is_relative = operand.mem.base == X86_REG_RIP
            if not is_relative and encoding.disp_offset not in filled:
                continue
            filled.discard(encoding.disp_offset)
            number = (end if is_relative else 0) + operand.mem.disp
            is_exact = not is_lea and not _is_bit_string(found)
            is_access = is_exact and (is_relative or not (operand.mem.base or operand.mem.index))
            use, size = (AddressUse.ACCESS, operand.size) if is_access else (AddressUse.FORM, 0)
            yield encoding.disp_offset, _ADDRESS_BYTES, AddressInCode(use, number & _MASK, size)
        elif operand.type == X86_OP_IMM:
            if "relative" in groups:
                use = AddressUse.CALL if "call" in groups else AddressUse.JUMP
            elif encoding.imm_offset in filled:
                use = AddressUse.FORM
            else:
                continue
            filled.discard(encoding.imm_offset)
            yield encoding.imm_offset, encoding.imm_size, AddressInCode(use, operand.imm & _MASK, 0)
    if filled:
        raise NotTheSame(f"a relocation at {found.address:#x} fills no operand")


def _is_bit_string(found: Any) -> bool:
    from capstone.x86 import X86_OP_REG

    return found.mnemonic.split()[-1] in _BIT_STRINGS and found.operands[-1].type == X86_OP_REG


def _refuse_threads(memory: Any, found: Any) -> None:
    from capstone.x86 import X86_REG_FS, X86_REG_GS

    if memory.segment not in (X86_REG_FS, X86_REG_GS):
        return
    is_check = memory.segment == X86_REG_FS and memory.disp == _STACK_CHECK and not (memory.base or memory.index)
    if not is_check:
        raise NotTheSame(f"it uses thread-local data at {found.address:#x}")


def _is_memory(operand: Any) -> bool:
    from capstone.x86 import X86_OP_MEM

    return bool(operand.type == X86_OP_MEM)


def _is_by_register(operand: Any) -> bool:
    from capstone.x86 import X86_REG_RIP

    return _is_memory(operand) and operand.mem.base != X86_REG_RIP


def _groups(found: Any) -> set[str]:
    from capstone.x86 import X86_GRP_BRANCH_RELATIVE, X86_GRP_CALL, X86_GRP_JUMP, X86_GRP_RET

    names = {
        X86_GRP_CALL: "call",
        X86_GRP_JUMP: "jump",
        X86_GRP_RET: "ret",
        X86_GRP_BRANCH_RELATIVE: "relative",
    }
    return {names[group] for group in found.groups if group in names}


@cache
def _disassembler() -> Any:
    import capstone

    disassembler = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    disassembler.detail = True
    return disassembler
