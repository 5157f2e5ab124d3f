"""What the instruction around a relocated field does with it.

A relocation against a section says "this section plus a distance". Which object is meant can depend on how many bytes
follow the field in its instruction, and on whether the instruction accesses that address or only forms it (the address
may then be one past an object, or before it).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from isoform.model.linkage import Use

LEA = 0x8D
SWEEP_LIMIT = 1 << 20


def is_branch(code: bytes, offset: int) -> bool:
    """Whether the field at `offset` is the distance of a call, jmp or conditional jump."""
    if offset < 1:
        return False
    last = code[offset - 1]
    return last in (0xE8, 0xE9) or (offset >= 2 and code[offset - 2] == 0x0F and 0x80 <= last <= 0x8F)


def is_lea(code: bytes, offset: int) -> bool:
    """Whether the field at `offset` is the displacement of a rip-relative `lea`."""
    return offset >= 2 and code[offset - 2] == LEA and code[offset - 1] & 0xC7 == 0x05


def is_move_immediate(code: bytes, offset: int) -> bool:
    """Whether the field at `offset` looks like the immediate of `mov $address, register`."""
    return offset >= 1 and 0xB8 <= code[offset - 1] <= 0xBF


class FieldReader:
    """Uses of the fields of one code section, decoded from the nearest known start of code."""

    def __init__(self, code: bytes, starts: Sequence[int]) -> None:
        self._code = code
        self._starts = sorted({0, *starts})
        self._bounds: dict[int, dict[int, int]] = {}
        self._decoder: Any = None

    def use(self, offset: int) -> Use | None:
        """How the 4-byte field at `offset` is used; None if the code around it cannot be decoded."""
        if is_lea(self._code, offset):
            return Use(0, True)
        start = self._instruction_start(offset)
        if start is None:
            return None
        instruction = next(iter(self._capstone().disasm(self._code[start : start + 16], start)), None)
        if instruction is None:
            return None
        return self._use_in(instruction, offset)

    def _use_in(self, instruction: Any, offset: int) -> Use | None:
        from capstone.x86 import X86_OP_MEM, X86_REG_RIP

        at = offset - instruction.address
        trailing = instruction.size - at - 4
        if trailing < 0:
            return None
        if instruction.disp_offset != at:
            return Use(trailing, instruction.imm_offset == at)
        memory = [operand.mem for operand in instruction.operands if operand.type == X86_OP_MEM]
        registers = {register for m in memory for register in (m.base, m.index)} - {0, X86_REG_RIP}
        return Use(trailing, bool(registers) or instruction.mnemonic == "lea" or not memory)

    def _instruction_start(self, offset: int) -> int | None:
        start = self._starts[bisect_right(self._starts, offset) - 1]
        bounds = self._bounds.get(start)
        if bounds is None:
            bounds = self._bounds[start] = self._sweep(start)
        return next(
            (at for at in range(offset, max(start, offset - 15) - 1, -1) if at + bounds.get(at, 0) > offset), None
        )

    def _sweep(self, start: int) -> dict[int, int]:
        """Length by offset of every instruction from `start` up to the next start of code."""
        index = bisect_right(self._starts, start)
        end = self._starts[index] if index < len(self._starts) else len(self._code)
        code = self._code[start : min(end, start + SWEEP_LIMIT)]
        return {address: size for address, size, _, _ in self._capstone().disasm_lite(code, start)}

    def _capstone(self) -> Any:
        if self._decoder is None:
            import capstone

            self._decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
            self._decoder.detail = True
        return self._decoder
