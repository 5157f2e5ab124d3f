"""Runs a 64-bit RISC-V function on Unicorn (QEMU's CPU model): the independent witness of every `different`.

Nothing here knows of micro-ops. Outside calls are not run, nor what asks the machine or operating system around the
function for something: such a run is refused (`Status.UNSUPPORTED`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from isoform.check.entry_memory import ADDRESS_MASK, EntryMemory
from isoform.check.unicorn_cpu import PAGE_LIMIT, MemoryLimitError, UnicornCpu
from isoform.load.image import Image
from isoform.model.allocation import LibraryCall
from isoform.model.callee import Callees
from isoform.model.outcome import FRAME_LIMIT, PAGE, RETURN_ADDRESS, STACK_POINTER, Inputs, Outcome, Status

REGISTERS = (
    *("ra", "sp", "gp", "tp", *(f"a{n}" for n in range(8))),
    *(*(f"s{n}" for n in range(12)), *(f"t{n}" for n in range(7))),
)
RUN = frozenset({0x03, 0x0F, 0x13, 0x17, 0x1B, 0x23, 0x33, 0x37, 0x3B, 0x63, 0x67, 0x6F})
"""Opcodes of what computes, loads, stores and jumps."""
ENDING = {0x0010_0073: "trap", 0x9002: "trap", 0xC000_1073: "undefined instruction", 0: "undefined instruction"}
"""`ebreak` and `unimp`, of 32 and of 16 bits."""
RETURNS = (0x0000_8067, 0x8082)

_one_at_a_time = threading.Lock()


def run(
    image: Image,
    entry: int,
    inputs: Inputs,
    fuel: int,
    trace: bool = False,
    call_arguments: Callees | None = None,
    stack_argument_bytes: int = 0,
    outside: Mapping[int, str] | None = None,
    watched: Sequence[tuple[int, int]] = (),
    through: Mapping[int, str] | None = None,
    library: Sequence[LibraryCall] = (),
) -> Outcome:
    """Runs the function at `entry` until it returns."""
    with _one_at_a_time:
        execution = _Execution(_cpu(), image, inputs, fuel, stack_argument_bytes, outside or {})
        execution.watched = watched
        stop_watching = _cpu().watch_memory() if watched else lambda: None
        try:
            execution.follow(entry)
        finally:
            stop_watching()
        return execution.outcome(trace)


@cache
def _cpu() -> UnicornCpu:
    return UnicornCpu("RISCV", "RISCV64", "RISCV64_ANY", (*REGISTERS, "pc"))


class _Execution:
    def __init__(
        self,
        cpu: UnicornCpu,
        image: Image,
        inputs: Inputs,
        fuel: int,
        stack_argument_bytes: int,
        outside: Mapping[int, str],
    ) -> None:
        self._cpu, self._image, self._fuel, self._outside = cpu, image, fuel, outside
        self._stack_argument_bytes = stack_argument_bytes
        self._stack_pointer = inputs.registers.get("sp", STACK_POINTER) & ADDRESS_MASK
        self._ending: tuple[Status, str] | None = None
        self._return_target = 0
        self._trace: list[int] = []
        self.watched: Sequence[tuple[int, int]] = ()
        self._read: set[int] = set()
        self._written: set[int] = set()
        cpu.reset(self, EntryMemory(image, inputs, self._stack_pointer, has_return_slot=False))
        for name in REGISTERS:
            cpu.set(name, inputs.registers.get(name, 0))
        cpu.set("sp", self._stack_pointer)
        cpu.set("ra", RETURN_ADDRESS)

    def follow(self, entry: int) -> None:
        try:
            error = self._cpu.start(entry)
        except MemoryLimitError:
            error = "too much memory"
        if self._cpu.full():
            self._end(Status.UNSUPPORTED, f"memory on more than {PAGE_LIMIT} pages")
        elif error is not None:
            self._end(Status.UNSUPPORTED, f"{error} at {self._cpu.get('pc'):#x}")
        self._leave(self._cpu.get("pc"))

    def _leave(self, address: int) -> None:
        """Control arrived at an address that is no code of the image."""
        if address in self._image.externals or address in self._image.aliases or address in self._outside:
            self._end(Status.UNSUPPORTED, "a call to outside code")
        elif self._image.code_at(address, 1):
            self._end(Status.UNSUPPORTED, f"the CPU model stopped at {address:#x}")
        elif self._ending is None and not self._returned():
            self._end(Status.UNSUPPORTED, f"a jump to {address:#x}")
        else:
            self._return_target = address
            self._end(Status.DONE)

    def _returned(self) -> bool:
        """Whether the last instruction was a jump to the link register."""
        return bool(self._trace) and self._word(self._trace[-1]) in RETURNS

    def _word(self, address: int) -> int:
        """An instruction: of 16 bits unless its lowest two are set."""
        word = int.from_bytes(self._image.code_at(address, 4), "little")
        return word if word & 3 == 3 else word & 0xFFFF

    def step(self, address: int) -> bool:
        """Called before each instruction; False keeps it from running."""
        if address in self._outside or not self._image.code_at(address, 1):
            return False
        word = self._word(address)
        broken = next((self._image.broken[at] for at in range(address, address + 4) if at in self._image.broken), None)
        if broken is not None:
            self._end(Status.UNSUPPORTED, broken)
        elif word in ENDING:
            self._end(Status.ABORTED, ENDING[word])
        elif word & 3 == 3 and word & 0x7F not in RUN:
            self._end(Status.UNSUPPORTED, f"the instruction {word:#010x}")
        elif len(self._trace) >= self._fuel:
            self._end(Status.OUT_OF_FUEL)
        else:
            self._trace.append(address)
        return self._ending is None

    def interrupt(self, number: int) -> None:
        self._end(Status.UNSUPPORTED, f"exception {number}")

    def access(self, address: int, size: int, is_write: bool) -> None:
        for byte in range(address, address + size) if self.watched else ():
            if any(low <= byte < high for low, high in self.watched) and byte not in self._written:
                (self._written if is_write else self._read).add(byte)

    def _end(self, status: Status, reason: str = "") -> None:
        if self._ending is None:
            self._ending = status, reason

    def outcome(self, trace: bool) -> Outcome:
        changed = dict(self._changed_bytes())
        if any((s := self._image.section_at(address)) is not None and s.executable for address in changed):
            self._ending = Status.UNSUPPORTED, "a write to the program's own code"
        status, reason = self._ending or (Status.UNSUPPORTED, "the CPU model stopped")
        frame = range(self._stack_pointer - FRAME_LIMIT, self._stack_pointer + self._stack_argument_bytes)
        return Outcome(
            status=status,
            reason=reason,
            registers={name: self._cpu.get(name) for name in REGISTERS},
            return_target=self._return_target,
            writes={address: byte for address, byte in changed.items() if address not in frame},
            reads={a: self._cpu.entry_pages[a & -PAGE][a % PAGE] for a in sorted(self._read)},
            steps=len(self._trace),
            trace=tuple(self._trace) if trace else (),
        )

    def _changed_bytes(self) -> Iterator[tuple[int, int]]:
        for base in sorted(self._cpu.entry_pages):
            before, after = self._cpu.entry_pages[base], self._cpu.read(base, PAGE)
            yield from ((base + n, after[n]) for n in range(PAGE) if before != after and before[n] != after[n])
