"""Runs a 64-bit RISC-V function on Unicorn (QEMU's CPU model): the independent witness of every `different`.

This module does not use micro-ops. Instructions that ask the machine or operating system for something are refused
(`Status.UNSUPPORTED`), not run.
"""

from __future__ import annotations

from functools import cache

from isoform.check.surroundings import ALONE, Surroundings
from isoform.check.unicorn_cpu import MemoryLimitError, UnicornCpu
from isoform.check.unicorn_run import RegisterNames, ReplayedRun, run_alone
from isoform.load.image import Image
from isoform.model.outcome import RETURN_ADDRESS, Inputs, Outcome, Status

ARGUMENTS, TEMPORARY = tuple(f"a{n}" for n in range(8)), tuple(f"t{n}" for n in range(7))
REGISTERS = ("ra", "sp", "gp", "tp", *ARGUMENTS, *TEMPORARY, *(f"s{n}" for n in range(12)))
RUN = frozenset({0x03, 0x0F, 0x13, 0x17, 0x1B, 0x23, 0x33, 0x37, 0x3B, 0x63, 0x67, 0x6F})
"""Opcodes of what computes, loads, stores and jumps."""
ENDING = {0x0010_0073: "trap", 0x9002: "trap", 0xC000_1073: "undefined instruction", 0: "undefined instruction"}
"""`ebreak` and `unimp`, of 32 and of 16 bits."""
RETURNS = (0x0000_8067, 0x8082)


def run(
    image: Image, entry: int, inputs: Inputs, fuel: int, trace: bool = False, around: Surroundings = ALONE
) -> Outcome:
    """Runs the function at `entry` until control leaves the image's code."""
    return run_alone(_Execution, _cpu(), image, entry, inputs, fuel, trace, around)


@cache
def _cpu() -> UnicornCpu:
    return UnicornCpu("RISCV", "RISCV64", "RISCV64_ANY", (*REGISTERS, "pc"))


class _Execution(ReplayedRun):
    names = RegisterNames(
        counter="pc",
        stack="sp",
        integer_arguments=ARGUMENTS,
        results=(("a0", 8), ("a1", 8)),
        scratch=tuple((name, 8) for name in (*ARGUMENTS, *TEMPORARY, "ra")),
        above=0,
    )

    def _begin(self) -> None:
        self._back = 0
        """The return address of the outside function that was called last."""

    def _set_registers(self) -> None:
        for name in REGISTERS:
            self._cpu.set(name, self._inputs.registers.get(name, 0))
        self._cpu.set("sp", self._stack_pointer)
        self._cpu.set("ra", RETURN_ADDRESS)

    def _registers(self) -> dict[str, int]:
        return {name: self._cpu.get(name) for name in REGISTERS}

    def _word(self, address: int) -> int:
        """An instruction: of 16 bits unless its lowest two are set."""
        word = int.from_bytes(self._image.code_at(address, 4), "little")
        return word if word & 3 == 3 else word & 0xFFFF

    def step(self, address: int) -> bool:
        if (address in self._externals and self._steps) or not self._image.code_at(address, 1):
            return False
        word = self._word(address)
        broken = next((self._image.broken[at] for at in range(address, address + 4) if at in self._image.broken), None)
        if broken is not None:
            self._end(Status.UNSUPPORTED, broken)
        elif word in ENDING:
            self._end(Status.ABORTED, ENDING[word])
        elif word & 3 == 3 and word & 0x7F not in RUN:
            self._end(Status.UNSUPPORTED, f"the instruction {word:#010x}")
        elif self._pay():
            self._trace.append(address)
            if _links(word):
                self._call_sites.add(address)
        return self._ending is None

    def interrupt(self, number: int) -> None:
        self._end(Status.UNSUPPORTED, f"exception {number}")

    def _fault(self, error: str, address: int) -> None:
        if self._cpu.full():
            raise MemoryLimitError
        self._end(Status.UNSUPPORTED, f"{error} at {address:#x}")

    def _jumped(self) -> bool:
        return bool(self._trace) and self._word(self._trace[-1]) not in RETURNS

    def _scramble(self) -> None:
        self._back = self._cpu.get("ra")
        super()._scramble()

    def _scramble_rest(self, number: int) -> None:
        """There are no other registers."""

    def _settle(self) -> None:
        """There is nothing to undo."""

    def _return_address(self) -> int:
        self._came_back = True
        return self._back


def _links(word: int) -> bool:
    """Whether an instruction puts its return address into the link register."""
    if word & 3 != 3:
        return word & 0xF07F == 0x9002  # c.jalr; c.ebreak does not get here
    return word & 0x7F in (0x67, 0x6F) and word >> 7 & 31 == 1
