"""Runs an x86-64 function on Unicorn (QEMU's CPU model): the independent witness of every `different`.

Nothing here knows of micro-ops. The machine itself is in `unicorn_cpu`.

What QEMU's model gets wrong or makes up is refused (`Status.UNSUPPORTED`) rather than run: it executes VEX
instructions with their two-operand SSE meaning, and it answers `cpuid`, `rdtsc` and privileged instructions
with values of its own.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from isoform.check.entry_memory import ADDRESS_MASK, EntryMemory
from isoform.check.unicorn_cpu import GENERAL, PAGE_LIMIT, VECTOR, MemoryLimitError, UnicornX86
from isoform.check.x86_shared import OutOfReachError, with_shared_addresses
from isoform.load.image import Image
from isoform.model.allocation import AllocationCall, Blocks, LibraryCall
from isoform.model.callee import LONGEST_FORMAT, NOTHING, Callee, Callees, Part, Parts
from isoform.model.contract import NoValueError, OutputCall, PureCall, stored_size
from isoform.model.outcome import (
    FRAME_LIMIT,
    MOST_SIGHTS,
    PAGE,
    RETURN_ADDRESS,
    STACK_POINTER,
    THREAD_POINTER,
    THROUGH_A_POINTER,
    CallEffect,
    CallKey,
    CallRecord,
    Inputs,
    Outcome,
    Status,
    left_in_results,
    mixed_number,
)

REPEAT_LIMIT = 1 << 18
"""Iterations of `rep` instructions in one run; they cost no fuel, as one instruction is one step."""

FLAG_BITS = {"cf": 0, "pf": 2, "af": 4, "zf": 6, "sf": 7, "df": 10, "of": 11}
UNTOUCHED = ("fs_offset", "gs_offset", "canary", "absent", *(f"ymm{n}h" for n in range(16)))
"""Containers that no instruction we let run can change."""

LARGEST_COPY = 1 << 20
SCRATCH_AFTER_CALL = ("rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", *VECTOR)
RESULTS = (("rax", 8), ("rdx", 8), ("xmm0", 16), ("xmm1", 16))
"""Registers that results are in, with their bytes."""
INTEGER_ARGUMENTS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
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
"""Instructions that answer with something of the machine or operating system around the function."""
MISTAKEN_INSTRUCTIONS = frozenset(
    {"blsi", "bzhi", "bextr", "pdep", "phaddw", "phaddd", "phaddsw", "phsubw", "phsubd", "phsubsw"}
    | {"pcmpestri", "pcmpestrm", "fisttp", "fcomi", "fcompi", "fucomi", "fucompi"}
)
"""BLSI inverts CF; BZHI clears a bit too many for an index from the width on; BEXTR and PDEP look at bits 63:32 of
32-bit operands; the horizontal ones overwrite a source that is also the target; PCMPESTRI and PCMPESTRM crash the
process; FISTTP gives other numbers for what does not fit; FCOMI and its relatives leave OF and SF."""
MISTAKEN_IF_WIDER = "cmpxchg"
"""Of 32-bit operands it clears bits 63:32 of the register that it should not write."""
RIP_RELATIVE_MISTAKEN = frozenset({"shld", "shrd", "rorx"})
"""With an immediate, their address relative to rip is off by the immediate's length."""
SYSTEM_REGISTER = re.compile(r"\b(?:cr|dr)\d+\b|^(?:[c-g]s|ss)(?:,|$)|, (?:[c-g]s|ss)$")
UNDEFINED_INSTRUCTIONS = frozenset({"ud0", "ud1", "ud2"})

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
    """Runs the function at `entry` until control leaves the image's code. `call_arguments` says which
    arguments of an outside function are recorded ("" for a call through a pointer); `outside` names
    functions that the image does have but whose calls count as calls to outside code; of the ranges `watched` the
    outcome says what was read before it was written. `through` says what `call_arguments` is asked for a call through
    a pointer, by the address of the instruction; `library` says what is known of outside functions."""
    with _one_at_a_time:
        externals = {**image.externals, **(outside or {})}
        image = image.without(inputs.registers.get("absent", 0))
        callees = call_arguments or (lambda _name: NOTHING)
        execution = _Execution(_cpu(), image, inputs, fuel, callees, externals, library, stack_argument_bytes)
        execution.watched = watched
        execution.through = through or {}
        stop_watching = _cpu().watch_memory() if watched else lambda: None
        try:
            execution.follow(entry)
        finally:
            stop_watching()
        return execution.outcome(trace)


@cache
def _cpu() -> UnicornX86:
    return UnicornX86()


@cache
def _disassembler() -> Any:
    import capstone

    return capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)


@lru_cache(maxsize=4096)
def _decoded(code: bytes, address: int) -> tuple[int, str, str, str]:
    """Size, prefix, mnemonic and operands; nothing where the bytes are no instruction."""
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


class _Execution:
    """One run: follows control through the image's code, answers outside calls, and notes how it ends."""

    def __init__(
        self,
        cpu: UnicornX86,
        image: Image,
        inputs: Inputs,
        fuel: int,
        call_arguments: Callees,
        externals: Mapping[int, str],
        library: Sequence[LibraryCall],
        stack_argument_bytes: int,
    ) -> None:
        self._cpu, self._image, self._inputs, self._fuel = cpu, image, inputs, fuel
        self._library = {call.name: call for call in library}
        self._blocks = Blocks(lambda a: cpu.read(a, 1)[0], lambda a, byte: cpu.write(a, bytes([byte])))
        self._stack_argument_bytes = stack_argument_bytes
        self._call_arguments, self._externals = call_arguments, externals
        self._stack_pointer = inputs.registers.get("rsp", STACK_POINTER) & ADDRESS_MASK
        self._ending: tuple[Status, str] | None = None
        self._return_target = 0
        self._steps = self._repeats = 0
        self._trace: list[int] = []
        self._calls: list[CallRecord] = []
        self.through: Mapping[int, str] = {}
        self._admitted: set[int] = set()
        """Addresses of the instructions that may run, and of those among them that need more care:"""
        self._canary_readers: set[int] = set()
        self._repeaters: set[int] = set()
        self._narrow_exchanges: set[int] = set()
        """Instructions that are run as they should be if bits 63:32 of rax are zero."""
        self._call_sites: set[int] = set()
        self._came_back = False
        """Whether an outside function returned, and no code was run since."""
        self._rewritten = False
        """Whether the run was stopped only because the next instruction was rewritten."""
        self._beneath_canary: bytes | None = None
        self.watched: Sequence[tuple[int, int]] = ()
        self._read: set[int] = set()
        self._written: set[int] = set()
        cpu.reset(self, EntryMemory(image, inputs, self._stack_pointer))
        self._set_registers()

    def _set_registers(self) -> None:
        given = self._inputs.registers
        for name in (*GENERAL, *VECTOR):
            self._cpu.set(name, given.get(name, 0))
        self._cpu.set("rsp", self._stack_pointer)
        self._cpu.set("fs_base", given.get("fs_offset", THREAD_POINTER))
        self._cpu.set("gs_base", given.get("gs_offset", 0))
        self._set_flags(lambda name: given.get(name, 0))

    def _set_flags(self, value: Callable[[str], int]) -> None:
        self._cpu.set("eflags", 2 | sum((value(name) & 1) << bit for name, bit in FLAG_BITS.items()))

    def follow(self, entry: int) -> None:
        try:
            address = self._run_code(entry) if self._image.code_at(entry, 1) else entry
            while self._ending is None:
                if self._is_inside(address):
                    address = self._run_code(address)
                else:
                    address = self._leave(address)
            self._hide_canary()
        except MemoryLimitError:
            self._end(Status.UNSUPPORTED, f"memory on more than {PAGE_LIMIT} pages")

    def _is_inside(self, address: int) -> bool:
        return address not in self._externals and bool(self._image.code_at(address, 1))

    def _run_code(self, address: int) -> int:
        """Runs until control arrives outside the image's code or the run ends; where control is then."""
        self._came_back = False
        error = self._cpu.start(address)
        reached = self._cpu.get("rip")
        if self._ending is None and error is not None:
            self._fault(error, reached)
        elif self._ending is None and self._is_inside(reached) and not self._rewritten:
            self._end(Status.UNSUPPORTED, f"the CPU model stopped at {reached:#x}")
        self._rewritten = False
        return reached

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

    def _pay(self) -> bool:
        if self._steps >= self._fuel:
            self._end(Status.OUT_OF_FUEL)
            return False
        self._steps += 1
        return True

    def _admit(self, address: int) -> bool:
        """Whether the instruction may run: looked at once, at its first execution."""
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
        """Whether the instruction names the addresses that it should; if it did not, from now on it does."""
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

    def access(self, address: int, size: int, is_write: bool) -> None:
        for byte in range(address, address + size) if self.watched else ():
            if any(low <= byte < high for low, high in self.watched) and byte not in self._written:
                (self._written if is_write else self._read).add(byte)

    def _end(self, status: Status, reason: str = "") -> None:
        if self._ending is None:
            self._ending = status, reason

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

    def _leave(self, address: int) -> int:
        """Control arrived at an address that is no code of the image: where it goes on, if it does."""
        own_code = self._image.aliases.get(address)
        name = self._externals.get(address)
        called = bool(self._trace) and self._trace[-1] in self._call_sites
        if not called and self._jumped() and self._cpu.get("rsp") == self._stack_pointer:
            called = True  # with the stack as at entry: a call whose result is the function's own
        called = called and not self._came_back
        if self._is_absent(name):
            self._end(Status.ABORTED, "call of a null address")
            return address
        if own_code is None and name is None and (address == RETURN_ADDRESS or not called):
            self._return_target = address
            self._end(Status.DONE)
        elif self._pay():
            return own_code if own_code is not None else self._outside_call(name or "", address)
        return address

    def _is_absent(self, name: str | None) -> bool:
        symbol = self._image.weak.get(name) if name is not None else None
        return symbol is not None and bool(self._inputs.registers.get("absent", 0) >> symbol.bit & 1)

    def _jumped(self) -> bool:
        """Whether the last instruction was a jump (rather than a return)."""
        if not self._trace:
            return False
        _size, _prefix, mnemonic, _operands = _decoded(self._image.code_at(self._trace[-1]), self._trace[-1])
        return mnemonic == "jmp"

    def _content(self, part: Part) -> int:
        if part.register is not None:
            value = self._cpu.get(part.register) >> (8 * part.offset)
        else:
            start = (self._cpu.get("rsp") + part.offset) & ADDRESS_MASK
            value = int.from_bytes(self._cpu.read(start, part.size), "little")
        return value & ((1 << (8 * part.size)) - 1)

    def _parts(self, callee: Callee) -> Parts:
        text = None
        if callee.format is not None:
            text = self._text_at(self._content(callee.parts[callee.format.argument]))
        parts = callee.parts_of_call(text)
        return callee.parts_at_most(self._cpu.get("rax") & 0xFF) if parts is None else parts

    def _text_at(self, start: int) -> bytes | None:
        found = b""
        while len(found) < LONGEST_FORMAT:
            byte = self._cpu.read((start + len(found)) & ADDRESS_MASK, 1)
            if byte == b"\0":
                return found
            found += byte
        return None

    def _outside_call(self, name: str, address: int) -> int:
        callee = self._call_arguments(name or self.through.get(self._trace[-1] if self._trace else 0, ""))
        if callee.refused:
            self._end(Status.UNSUPPORTED, callee.refused)
            return 0
        parts = self._parts(callee)
        arguments = tuple(part.known(self._content(part)) for part in parts if part.reads)
        known = self._library.get(name)
        if isinstance(known, PureCall) and (known.only_if_null is None or not arguments[known.only_if_null]):
            return self._compute(known, arguments)
        if isinstance(known, AllocationCall):
            return self._allocate(known, arguments)
        present = address not in self._image.externals and bool(self._image.code_at(address, 1))
        result = self._library_call(name, arguments) if callee.is_library and not present else None
        if result is None:
            record = (name, arguments) if name else (THROUGH_A_POINTER, (address, *arguments))
            number = len(self._calls)
            output = self._output(known) if isinstance(known, OutputCall) else None
            self._calls.append(CallRecord(*record, record[1], self._sees(callee, *record), output))
            if not callee.returns:
                self._end(Status.EXITED, name or "a function")
                return 0
            space = self._cpu.get(INTEGER_ARGUMENTS[0])
            self._scramble()
            counts = output is not None and isinstance(known, OutputCall) and known.counts
            usual = CallEffect({"rax": len(output[1])} if counts and output is not None else {})
            effect = self._inputs.call_results.get(CallKey(*record, number), usual)
            given = {**effect.registers, callee.space: space} if callee.space is not None else effect.registers
            self._give_results(callee, given)
            for at, byte in effect.memory.items():
                self._cpu.write(at, bytes([byte]))
        else:
            self._scramble()
            self._cpu.set("rax", result & ADDRESS_MASK)
            for register in ("rdx", "xmm0", "xmm1"):
                self._cpu.set(register, 0)
        return self._return_address()

    def _output(self, output: OutputCall) -> tuple[int | None, bytes] | None:
        """What a call writes to which stream, if that is known."""
        words = tuple(self._cpu.get(name) for name in INTEGER_ARGUMENTS)
        try:
            text = output.written(words, lambda address: self._cpu.read(address, 1)[0])
        except NoValueError:
            return None
        return None if output.stream is None else words[output.stream], text

    def _sees(self, callee: Callee, name: str, arguments: tuple[int, ...]) -> dict[int, int] | None:
        """What a callee finds in memory, if it may look at all of it."""
        from isoform.load.known import known_signature

        if len(self._calls) >= MOST_SIGHTS or (callee.is_library and known_signature(name) is not None):
            return None
        changes = self._outside_frame(dict(self._changed_bytes()))
        return self._blocks.left(changes, {*arguments, *self._passed()}).observed(changes, ())

    def _outside_frame(self, changed: dict[int, int]) -> dict[int, int]:
        frame = range(self._stack_pointer - FRAME_LIMIT, self._stack_pointer + 8 + self._stack_argument_bytes)
        return {address: byte for address, byte in changed.items() if address not in frame}

    def _allocate(self, function: AllocationCall, arguments: tuple[int, ...]) -> int:
        given = self._inputs.call_results.get(CallKey(function.name, arguments, len(self._calls)))
        self._calls.append(CallRecord(function.name, function.shown(arguments)))
        try:
            block = self._blocks.call(function, arguments, given is not None and given.registers.get("rax") == 0)
        except NoValueError:
            self._end(Status.UNSUPPORTED, f"{function.name} with arguments for which its result is not known")
            return 0
        self._scramble()
        for register, value in (("rax", block), ("rdx", 0), ("xmm0", 0), ("xmm1", 0)):
            self._cpu.set(register, value)
        return self._return_address()

    def _compute(self, pure: PureCall, arguments: tuple[int, ...]) -> int:
        """A callee that only computes: its real results, else what the inputs say that it gives for these arguments."""
        try:
            values = self._values(pure, arguments)
        except NoValueError:
            self._end(Status.UNSUPPORTED, f"{pure.name} with arguments for which its result is not known")
            return 0
        for (pointer, function), value in zip(pure.stores, values[len(pure.results) :], strict=True):
            self._cpu.write(arguments[pointer], value.to_bytes(stored_size(function), "little"))
        self._scramble()
        for register in ("rax", "rdx"):
            self._cpu.set(register, mixed_number(self._inputs.side_seed, len(self._trace), 8))
        for result, value in zip(pure.results, values, strict=False):
            rest = self._cpu.get(result.register) & ~((1 << result.bits) - 1)
            self._cpu.set(result.register, rest | value)
        return self._return_address()

    def _values(self, pure: PureCall, arguments: tuple[int, ...]) -> tuple[int, ...]:
        if pure.value is not None:
            return pure.value(arguments, lambda address: self._read_for_call(address)[0])
        effect = self._inputs.call_results.get(CallKey(pure.name, arguments, None), CallEffect({}))
        return tuple(effect.registers.get(r.register, 0) & ((1 << r.bits) - 1) for r in pure.results)

    def _return_address(self) -> int:
        """Pops it."""
        self._came_back = True
        stack_pointer = self._cpu.get("rsp")
        self._cpu.set("rsp", (stack_pointer + 8) & ADDRESS_MASK)
        return int.from_bytes(self._cpu.read(stack_pointer, 8), "little")

    def _give_results(self, callee: Callee, results: Mapping[str, int]) -> None:
        """The results where they belong, and beside them what this side's seed says."""
        given = {g.register: g for g in callee.results}
        for number, (register, size) in enumerate(RESULTS):
            here = given.get(register)
            bits = here.bits if here is not None else 0
            value = results.get(register, 0)
            if here is not None:
                value &= ~here.zeros
            left = left_in_results(self._inputs.side_seed, len(self._calls), number, size)
            self._cpu.set(register, (value & bits) | (left & ~bits & ((1 << (8 * size)) - 1)))

    def _library_call(self, name: str, arguments: tuple[int, ...]) -> int | None:
        """The result of memset, memcpy, memmove or strlen, done; None if it is none of them."""
        if name == "strlen" and len(arguments) == 1:
            return self._text_length(arguments[0])
        if name not in ("memset", "memcpy", "memmove") or len(arguments) != 3:
            return None
        destination, source, size = arguments
        if size > LARGEST_COPY:
            raise MemoryLimitError
        data = bytes([source & 0xFF]) * size if name == "memset" else self._read_for_call(source, size)
        self._cpu.write(destination, data)
        self.access(destination, size, is_write=True)
        return destination

    def _read_for_call(self, address: int, size: int = 1) -> bytes:
        """What a library function reads counts as read."""
        self.access(address, size, is_write=False)
        return self._cpu.read(address, size)

    def _text_length(self, start: int) -> int:
        for length in range(LARGEST_COPY):
            if self._read_for_call((start + length) & ADDRESS_MASK) == b"\0":
                return length
        raise MemoryLimitError

    def _scramble(self) -> None:
        """Gives what a call leaves open values of this side's own, so that code which relies on them shows."""
        first = len(self._calls) << 16
        for index, name in enumerate(SCRATCH_AFTER_CALL, first):
            width = 16 if name in VECTOR else 8
            self._cpu.set(name, mixed_number(self._inputs.side_seed, index, width))
        flags = mixed_number(self._inputs.side_seed, first - 1, 2)
        self._set_flags(lambda name: 0 if name == "df" else flags >> FLAG_BITS[name])

    def outcome(self, trace: bool) -> Outcome:
        changed = dict(self._changed_bytes())
        if any((s := self._image.section_at(address)) is not None and s.executable for address in changed):
            self._ending = Status.UNSUPPORTED, "a write to the program's own code"
        status, reason = self._ending or (Status.UNSUPPORTED, "the CPU model stopped")
        return Outcome(
            status=status,
            reason=reason,
            registers=self._registers(),
            return_target=self._return_target,
            writes=self._outside_frame(changed),
            reads={a: self._cpu.entry_pages[a & -PAGE][a % PAGE] for a in sorted(self._read)},
            calls=tuple(self._calls),
            blocks=self._blocks.left(self._outside_frame(changed), self._passed()),
            steps=self._steps,
            trace=tuple(self._trace) if trace else (),
        )

    def _passed(self) -> set[int]:
        return {argument for call in self._calls for argument in call.arguments}

    def _registers(self) -> dict[str, int]:
        values = {name: self._cpu.get(name) for name in (*GENERAL, *VECTOR)}
        flags = self._cpu.get("eflags")
        values |= {name: flags >> bit & 1 for name, bit in FLAG_BITS.items()}
        values["x87"] = self._cpu.x87()
        given = {"fs_offset": THREAD_POINTER, **self._inputs.registers}
        return values | {name: given.get(name, 0) for name in UNTOUCHED}

    def _changed_bytes(self) -> Iterator[tuple[int, int]]:
        for base in sorted(self._cpu.entry_pages):
            before, after = self._cpu.entry_pages[base], self._cpu.read(base, PAGE)
            for start in range(0, PAGE, 64) if before != after else ():
                if before[start : start + 64] != after[start : start + 64]:
                    yield from ((base + n, after[n]) for n in range(start, start + 64) if before[n] != after[n])
