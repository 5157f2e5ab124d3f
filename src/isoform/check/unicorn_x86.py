"""Runs an x86-64 function on Unicorn (QEMU's CPU model): the independent witness of every `different`.

Nothing here knows of micro-ops. The machine itself is in `unicorn_cpu`.

What QEMU's model gets wrong or makes up is refused (`Status.UNSUPPORTED`) rather than run: it executes VEX
instructions with their two-operand SSE meaning, and it answers `cpuid`, `rdtsc` and privileged instructions
with values of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from isoform.check.entry_memory import ADDRESS_MASK
from isoform.check.surroundings import ALONE, Surroundings
from isoform.check.unicorn_cpu import GENERAL, VECTOR, MemoryLimitError, UnicornX86
from isoform.check.unicorn_run import RegisterNames, ReplayedRun, run_alone
from isoform.check.x86_shared import OutOfReachError, with_shared_addresses
from isoform.load.image import Image
from isoform.model.outcome import THREAD_POINTER, Inputs, Outcome, Status

REPEAT_LIMIT = 1 << 18
"""Iterations of `rep` instructions in one run; they cost no fuel, as one instruction is one step."""

FLAG_BITS = {"cf": 0, "pf": 2, "af": 4, "zf": 6, "sf": 7, "df": 10, "of": 11}
UNTOUCHED = ("fs_offset", "gs_offset", "canary", "absent", *(f"ymm{n}h" for n in range(16)))
"""Containers that no admitted instruction can change."""

SCRATCH_AFTER_CALL = ("rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11")
CANARY_OFFSET = 0x28

# fmt: off
ENVIRONMENT_INSTRUCTIONS = frozenset({
    "cpuid", "rdtsc", "rdtscp", "rdrand", "rdseed", "rdpid", "rdpmc", "xgetbv", "xsetbv", "pushf",
    "pushfq", "pushfd", "syscall", "sysenter", "sysexit", "sysret", "sysretq", "hlt", "in", "out",
    "insb", "insw", "insd", "outsb", "outsw", "outsd", "cli", "sti", "iret", "iretd", "iretq", "rdmsr",
    "wrmsr", "lgdt", "lidt", "sgdt", "sidt", "lldt", "sldt", "ltr", "str", "lmsw", "smsw", "clts",
    "invd", "wbinvd", "invlpg", "swapgs", "monitor", "mwait", "lcall", "ljmp", "retf", "retfq", "lfs",
    "lgs", "lss", "lar", "lsl", "xbegin", "xend", "xabort", "xtest", "fxsave", "fxsave64", "fxrstor",
    "fxrstor64", "xsave", "xsave64", "xsavec", "xsaveopt", "xrstor", "xrstor64",
})
# fmt: on
"""Instructions whose result comes from the machine or operating system around the function."""
MISTAKEN_INSTRUCTIONS = frozenset(
    {"blsi", "bzhi", "bextr", "pdep", "phaddw", "phaddd", "phaddsw", "phsubw", "phsubd", "phsubsw"}
    | {"pcmpestri", "pcmpestrm", "fisttp", "fcomi", "fcompi", "fucomi", "fucompi"}
)
"""BLSI inverts CF; BZHI clears a bit too many for an index from the width on; BEXTR and PDEP look at bits 63:32 of
32-bit operands; the horizontal ones overwrite a source that is also the target; PCMPESTRI and PCMPESTRM crash the
process; FISTTP gives other numbers for what does not fit; FCOMI and its relatives leave OF and SF."""
MISTAKEN_IF_WIDER = "cmpxchg"
"""For 32-bit operands it clears bits 63:32 of the register that it should not write."""
RIP_RELATIVE_MISTAKEN = frozenset({"shld", "shrd", "rorx"})
"""With an immediate, their address relative to rip is off by the immediate's length."""
SYSTEM_REGISTER = re.compile(r"\b(?:cr|dr)\d+\b|^(?:[c-g]s|ss)(?:,|$)|, (?:[c-g]s|ss)$")
UNDEFINED_INSTRUCTIONS = frozenset({"ud0", "ud1", "ud2"})


def run(
    image: Image, entry: int, inputs: Inputs, fuel: int, trace: bool = False, around: Surroundings = ALONE
) -> Outcome:
    """Runs the function at `entry` until control leaves the image's code."""
    present = image.without(inputs.registers.get("absent", 0))
    return run_alone(_Execution, _cpu(), present, entry, inputs, fuel, trace, around)


@cache
def _cpu() -> UnicornX86:
    return UnicornX86()


@cache
def _disassembler() -> Any:
    import capstone

    return capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)


@lru_cache(maxsize=1024)
def _decoded(code: bytes, address: int) -> tuple[int, str, str, str]:
    """Size, prefix, mnemonic and operands; empty if the bytes are no instruction."""
    for _address, size, name, operands in _disassembler().disasm_lite(code, address, 1):
        prefix, _space, mnemonic = name.rpartition(" ")
        return size, prefix, mnemonic, operands
    return 0, "", "", ""


def _refused(mnemonic: str, operands: str) -> bool:
    """Whether Unicorn's answer to this instruction could not be relied on (see the module's docstring).
    All VEX and EVEX instructions but the bit-manipulation ones start with v or k."""
    if not mnemonic or mnemonic[0] in "vk" or mnemonic in ENVIRONMENT_INSTRUCTIONS | MISTAKEN_INSTRUCTIONS:
        return True
    if mnemonic in RIP_RELATIVE_MISTAKEN and "rip" in operands:
        return True
    if mnemonic == MISTAKEN_IF_WIDER and "[" not in operands:
        return True
    return mnemonic in ("mov", "push", "pop") and SYSTEM_REGISTER.search(operands) is not None


class _Execution(ReplayedRun):
    names = RegisterNames(
        counter="rip",
        stack="rsp",
        integer_arguments=("rdi", "rsi", "rdx", "rcx", "r8", "r9"),
        results=(("rax", 8), ("rdx", 8), ("xmm0", 16), ("xmm1", 16)),
        scratch=(*((name, 8) for name in SCRATCH_AFTER_CALL), *((name, 16) for name in VECTOR)),
        above=8,
    )

    def _begin(self) -> None:
        self._repeats = 0
        self._admitted: set[int] = set()
        """Addresses of the instructions that may run, and of those among them that need more care:"""
        self._canary_readers: set[int] = set()
        self._repeaters: set[int] = set()
        self._narrow_exchanges: set[int] = set()
        """Instructions that run correctly if bits 63:32 of rax are zero."""
        self._beneath_canary: bytes | None = None

    def _set_registers(self) -> None:
        given = self._inputs.registers
        for name in (*GENERAL, *VECTOR):
            self._cpu.set(name, given.get(name, 0))
        self._cpu.set("rsp", self._stack_pointer)
        self._cpu.set("fs_base", given.get("fs_offset", THREAD_POINTER))
        self._cpu.set("gs_base", given.get("gs_offset", 0))
        self._set_flags(lambda name: given.get(name, 0))

    def _scramble_rest(self, number: int) -> None:
        self._set_flags(lambda name: 0 if name == "df" else number >> FLAG_BITS[name])

    def _vectors_passed(self) -> int:
        return self._cpu.get("rax") & 0xFF

    def _settle(self) -> None:
        self._hide_canary()

    def _set_flags(self, value: Callable[[str], int]) -> None:
        self._cpu.set("eflags", 2 | sum((value(name) & 1) << bit for name, bit in FLAG_BITS.items()))

    def _fault(self, error: str, address: int) -> None:
        _size, _prefix, mnemonic, operands = _decoded(self._image.code_at(address), address)
        if error == "invalid instruction" and mnemonic in UNDEFINED_INSTRUCTIONS:
            self._end(Status.ABORTED, "undefined instruction")
        elif error == "invalid instruction":
            self._end(Status.UNSUPPORTED, f"{mnemonic} {operands}".strip())
        elif self._cpu.full():
            raise MemoryLimitError
        else:
            self._end(Status.UNSUPPORTED, f"{error} at {address:#x}")

    def step(self, address: int) -> bool:
        """Called before each instruction; False keeps it from running."""
        self._hide_canary()
        if address in self._externals and self._steps:
            return False
        if address not in self._admitted and not self._admit(address):
            return False
        if address in self._repeaters and self._trace and self._trace[-1] == address and self._repeats < REPEAT_LIMIT:
            self._repeats += 1
            return True
        if address in self._narrow_exchanges and self._cpu.get("rax") >> 32:
            self._end(Status.UNSUPPORTED, f"{MISTAKEN_IF_WIDER} with more than 32 bits in rax")
            return False
        if not self._pay():
            return False
        self._trace.append(address)
        if address in self._canary_readers:
            self._show_canary()
        return True

    def _admit(self, address: int) -> bool:
        """Whether the instruction may run: decided once, at its first execution."""
        code = self._image.code_at(address)
        if not code:
            return False
        size, prefix, mnemonic, operands = _decoded(code, address)
        if _refused(mnemonic, operands):
            self._end(Status.UNSUPPORTED, f"{mnemonic} {operands}".strip() or f"bytes {code.hex(' ')}")
            return False
        self._admitted.add(address)
        if f"fs:[{CANARY_OFFSET:#x}]" in operands:
            self._canary_readers.add(address)
        if mnemonic == MISTAKEN_IF_WIDER and "dword" in operands:
            self._narrow_exchanges.add(address)
        if prefix.startswith("rep"):
            self._repeaters.add(address)
        if mnemonic == "call":
            self._call_sites.add(address)
        return self._shares_addresses(code[:size], address)

    def _shares_addresses(self, code: bytes, address: int) -> bool:
        """Whether the instruction names the shared addresses. If it does not, it is rewritten."""
        for at in range(address, address + len(code)) if self._image.broken else ():
            if at in self._image.broken:
                self._end(Status.UNSUPPORTED, self._image.broken[at])
        if not self._image.moved or self._ending is not None:
            return self._ending is None
        try:
            rewritten = with_shared_addresses(code, address, self._image)
        except OutOfReachError:
            self._end(Status.UNSUPPORTED, f"the instruction at {address:#x} cannot name its shared address")
            return False
        if rewritten != code:
            self._cpu.rewrite_code(address, rewritten)
            self._rewritten = True
        return rewritten == code

    def interrupt(self, number: int) -> None:
        reason = {0: "division fault", 1: "trap", 3: "trap", 6: "undefined instruction"}.get(number)
        if reason is not None:
            self._end(Status.ABORTED, reason)
        else:
            self._end(Status.UNSUPPORTED, f"interrupt {number:#x}")

    # The canary is a constant that only `fs:0x28` names: it is in memory just while such an instruction
    # runs, so that no pointer of the inputs can reach it, whatever the segment base is.

    def _show_canary(self) -> None:
        address = self._canary_address()
        self._beneath_canary = self._cpu.read(address, 8)
        self._cpu.write(address, (self._inputs.registers.get("canary", 0) & ADDRESS_MASK).to_bytes(8, "little"))

    def _hide_canary(self) -> None:
        if self._beneath_canary is not None:
            self._cpu.write(self._canary_address(), self._beneath_canary)
            self._beneath_canary = None

    def _canary_address(self) -> int:
        return (self._inputs.registers.get("fs_offset", THREAD_POINTER) + CANARY_OFFSET) & ADDRESS_MASK

    def _is_absent(self, name: str | None) -> bool:
        symbol = self._image.weak.get(name) if name is not None else None
        return symbol is not None and bool(self._inputs.registers.get("absent", 0) >> symbol.bit & 1)

    def _jumped(self) -> bool:
        """Whether the last instruction was a jump (rather than a return)."""
        if not self._trace:
            return False
        _size, _prefix, mnemonic, _operands = _decoded(self._image.code_at(self._trace[-1]), self._trace[-1])
        return mnemonic == "jmp"

    def _return_address(self) -> int:
        """Pops it."""
        self._came_back = True
        stack_pointer = self._cpu.get("rsp")
        self._cpu.set("rsp", (stack_pointer + 8) & ADDRESS_MASK)
        return int.from_bytes(self._cpu.read(stack_pointer, 8), "little")

    def _registers(self) -> dict[str, int]:
        values = {name: self._cpu.get(name) for name in (*GENERAL, *VECTOR)}
        flags = self._cpu.get("eflags")
        values |= {name: flags >> bit & 1 for name, bit in FLAG_BITS.items()}
        assert isinstance(self._cpu, UnicornX86)
        values["x87"] = self._cpu.x87()
        given = {"fs_offset": THREAD_POINTER, **self._inputs.registers}
        return values | {name: given.get(name, 0) for name in UNTOUCHED}
