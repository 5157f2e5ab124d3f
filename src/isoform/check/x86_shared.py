"""Makes one x86-64 instruction name the addresses that both sides of a question share.

The code of a linked file names its own objects at distances fixed by the linker; `Image.moved` gives the shared address
under which each of them is compared. The instruction keeps its length: only a displacement or an immediate is
rewritten.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from typing import Any

from isoform.load.image import Image

FURTHEST = 1 << 31
NOT_AN_ADDRESS = ("j", "call", "loop", "xbegin")
"""Starts of the mnemonics whose immediate is a place in the code."""


class OutOfReachError(Exception):
    """The shared address does not fit the instruction's field."""


def with_shared_addresses(code: bytes, address: int, image: Image) -> bytes:
    """The instruction at the start of `code`, rewritten if it names a moved address. Many runs of one image ask the
    same again, so the answers are kept with the image."""
    known: dict[tuple[bytes, int], bytes] = image.__dict__.setdefault("_shared_code", {})
    if (code, address) not in known:
        known[code, address] = _with_shared_addresses(code, address, image)
    return known[code, address]


def _with_shared_addresses(code: bytes, address: int, image: Image) -> bytes:
    for instruction in _disassembler().disasm(code, address, 1):
        result = bytearray(code[: instruction.size])
        for offset, size, value in _rewritten(instruction, image):
            if not -FURTHEST <= value < FURTHEST and size < 8:
                raise OutOfReachError
            result[offset : offset + size] = value.to_bytes(size, "little", signed=True)
        return bytes(result)
    return b""


def _rewritten(instruction: Any, image: Image) -> Iterator[tuple[int, int, int]]:
    """Offset, size and new value of each field that changes."""
    from capstone.x86 import X86_OP_IMM, X86_OP_MEM, X86_REG_RIP

    encoding = instruction.encoding
    end = instruction.address + instruction.size
    # With the operand-size prefix capstone reports displacements of two bytes. 64-bit code has none: they take four.
    displacement = 4 if encoding.disp_size == 2 else encoding.disp_size
    for operand in instruction.operands:
        if operand.type == X86_OP_MEM and displacement >= 4:
            base = end if operand.mem.base == X86_REG_RIP else 0
            shared = shared_address(image, base + operand.mem.disp)
            if shared is not None:
                yield encoding.disp_offset, displacement, shared - base
        elif operand.type == X86_OP_IMM and encoding.imm_size >= 4:
            shared = shared_address(image, operand.imm)
            if shared is not None and _may_be_address(instruction):
                yield encoding.imm_offset, encoding.imm_size, shared


def _may_be_address(instruction: Any) -> bool:
    """Whether the instruction's immediate can be the address of an object: it is used in 64 bits, or fills a register
    whose upper half becomes zero."""
    from capstone.x86 import X86_OP_REG

    if instruction.mnemonic.startswith(NOT_AN_ADDRESS):
        return False
    first = instruction.operands[0]
    fills_register = instruction.mnemonic == "mov" and first.type == X86_OP_REG and first.size == 4
    return bool(fills_register or first.size == 8)


def shared_address(image: Image, address: int) -> int | None:
    """The shared address of one of the image's own addresses; None if it has no other."""
    index = bisect_right(image.moved, address, key=lambda entry: entry[0]) - 1
    if index < 0:
        return None
    start, end, shared = image.moved[index]
    return shared + address - start if address < end else None


@cache
def _disassembler() -> Any:
    import capstone

    disassembler = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    disassembler.detail = True
    return disassembler
