"""One Unicorn machine, reused from run to run, with memory that appears when it is touched.

Pages are handed over through Unicorn's virtual TLB: identity mapping would cut addresses to 52 bits, and a
witness may use all 64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, Protocol

from isoform.check.entry_memory import ADDRESS_MASK, EntryMemory
from isoform.model.outcome import PAGE, RETURN_ADDRESS

PAGE_LIMIT = 4096
GENERAL = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", *(f"r{n}" for n in range(8, 16)))
VECTOR = tuple(f"xmm{n}" for n in range(16))


X87 = ("fpsw", "fpcw", "fptag", *(f"fp{n}" for n in range(8)))
X87_CONTROL, X87_EMPTY = 0x037F, 0xFFFF


class MemoryLimitError(Exception):
    """The run touched more memory than it may."""


class Watcher(Protocol):
    """Receives the events of a run."""

    def step(self, address: int) -> bool:
        """Before each instruction; False keeps it from running."""

    def interrupt(self, number: int) -> None:
        """At a fault or interrupt, which ends the run."""

    def access(self, address: int, size: int, is_write: bool) -> None:
        """At each access to memory, if `watch_memory` was called."""


class UnicornCpu:
    """One Unicorn machine, reused. Every page is written in full when a run first touches it, and `reset` forgets all
    pages, the registers and the translated code: no run sees anything of an earlier one."""

    def __init__(self, architecture: str, mode: str, model: str, names: Iterable[str]) -> None:
        import unicorn

        self._unicorn = unicorn
        constants = import_module(f"unicorn.{architecture.lower()}_const")
        arch, bits = (getattr(unicorn, f"UC_{word}") for word in (f"ARCH_{architecture}", f"MODE_{mode}"))
        self.machine: Any = unicorn.Uc(arch, bits)
        self.machine.ctl_set_cpu_model(getattr(constants, f"UC_CPU_{model}"))
        self.machine.ctl_set_tlb_mode(unicorn.UC_TLB_VIRTUAL)
        self.machine.mem_map(0, PAGE * PAGE_LIMIT)
        self.machine.hook_add(unicorn.UC_HOOK_TLB_FILL, self._on_page)
        self.machine.hook_add(unicorn.UC_HOOK_CODE, self._on_instruction)
        self.machine.hook_add(unicorn.UC_HOOK_INTR, self._on_interrupt)
        self._numbers = {name: getattr(constants, f"UC_{architecture}_REG_{name.upper()}") for name in names}
        self._prepare()
        self._pristine = self.machine.context_save()
        self._watcher: Watcher | None = None
        self._memory: EntryMemory
        self.entry_pages: dict[int, bytes] = {}
        """Contents at entry of every page touched so far; the n-th one is at physical address n * PAGE."""
        self._physical: dict[int, int] = {}

    def _prepare(self) -> None:
        """Set the registers to the state in which every run starts."""

    def reset(self, watcher: Watcher, memory: EntryMemory) -> None:
        self._watcher, self._memory = watcher, memory
        self.entry_pages, self._physical = {}, {}
        self.machine.ctl(self._unicorn.UC_CTL_TLB_FLUSH, self._unicorn.UC_CTL_IO_WRITE)
        self.machine.context_restore(self._pristine)

    def watch_memory(self) -> Callable[[], None]:
        """Tell the watcher about memory accesses, until the returned function is called."""
        kinds = self._unicorn.UC_HOOK_MEM_READ | self._unicorn.UC_HOOK_MEM_WRITE
        hook = self.machine.hook_add(kinds, self._on_access)
        return lambda: self.machine.hook_del(hook)

    def _on_access(self, _uc: Any, kind: int, address: int, size: int, _value: int, _data: Any) -> None:
        """The address is a physical one."""
        pages = list(self._physical)
        if self._watcher is not None and address // PAGE < len(pages):
            virtual = pages[address // PAGE] + address % PAGE
            self._watcher.access(virtual, size, kind == self._unicorn.UC_MEM_WRITE)

    def start(self, address: int) -> str | None:
        """Runs from `address` on until a hook stops it; the name of the error, if it was one."""
        self.machine.ctl_flush_tb()
        try:
            self.machine.emu_start(address, RETURN_ADDRESS)
        except self._unicorn.UcError as error:
            invalid = error.errno == self._unicorn.UC_ERR_INSN_INVALID
            return "invalid instruction" if invalid else str(error)
        return None

    def get(self, name: str) -> int:
        return int(self.machine.reg_read(self._numbers[name]))

    def set(self, name: str, value: int) -> None:
        self.machine.reg_write(self._numbers[name], value)

    def read(self, address: int, size: int) -> bytes:
        return b"".join(bytes(self.machine.mem_read(at, count)) for at, count in self._pieces(address, size))

    def write(self, address: int, data: bytes) -> None:
        done = 0
        for at, count in self._pieces(address, len(data)):
            self.machine.mem_write(at, data[done : done + count])
            done += count

    def rewrite_code(self, address: int, data: bytes) -> None:
        """Replace code in memory, as if it had been there at entry. The run must then be restarted."""
        self.write(address, data)
        for base in {address & -PAGE, (address + len(data) - 1) & -PAGE}:
            self.entry_pages[base] = self.read(base, PAGE)

    def _pieces(self, address: int, size: int) -> Iterator[tuple[int, int]]:
        """Physical address and length of the parts of a stretch of memory, split at page boundaries."""
        while size:
            address &= ADDRESS_MASK
            count = min(size, PAGE - address % PAGE)
            physical = self._physical_page(address & -PAGE)
            if physical is None:
                raise MemoryLimitError
            yield physical + address % PAGE, count
            address, size = address + count, size - count

    def _physical_page(self, base: int) -> int | None:
        physical = self._physical.get(base)
        if physical is None and len(self._physical) < PAGE_LIMIT:
            physical = self._physical[base] = PAGE * len(self._physical)
            self.entry_pages[base] = self._memory.page(base)
            self.machine.mem_write(physical, self.entry_pages[base])
        return physical

    def _on_page(self, _uc: Any, address: int, _access: int, entry: Any, _data: Any) -> bool:
        physical = self._physical_page(address & -PAGE)
        if physical is None:
            return False
        entry.paddr, entry.perms = physical, self._unicorn.UC_PROT_ALL
        return True

    def full(self) -> bool:
        return len(self._physical) >= PAGE_LIMIT

    def _on_instruction(self, _uc: Any, address: int, _size: int, _data: Any) -> None:
        if self._watcher is not None and not self._watcher.step(address):
            self.machine.emu_stop()

    def _on_interrupt(self, _uc: Any, number: int, _data: Any) -> None:
        if self._watcher is not None:
            self._watcher.interrupt(number)
        self.machine.emu_stop()


class UnicornX86(UnicornCpu):
    def __init__(self) -> None:
        # The model with every extension that QEMU implements (bmi, adx, popcnt): on others `lzcnt` runs as `bsr`.
        names = (*GENERAL, *VECTOR, *X87, "rip", "eflags", "fs_base", "gs_base")
        super().__init__("X86", "64", "X86_SKYLAKE_SERVER", names)

    def _prepare(self) -> None:
        """It starts with another control word and with all of the x87 stack in use."""
        self.set("fpcw", X87_CONTROL)
        self.set("fptag", X87_EMPTY)

    def x87(self) -> int:
        """The x87 registers in use, ten bytes each and the top of the stack first, their number in the byte after the
        place of the eighth, and the control word."""
        top, tags = self.get("fpsw") >> 11 & 7, self.get("fptag")
        value = count = 0
        for number in (n % 8 for n in range(top, top + 8)):
            if tags >> (2 * number) & 3 == 3:
                break
            significand, rest = self.machine.reg_read(self._numbers[f"fp{number}"])
            value |= (significand | rest << 64) << (80 * count)
            count += 1
        return int(value | count << 640 | self.get("fpcw") << 648)
