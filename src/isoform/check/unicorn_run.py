"""One run on Unicorn, independent of the machine: control is followed through the image's code, outside calls are
answered as the contract says, and the way the run ends is recorded."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from isoform.check.entry_memory import ADDRESS_MASK, EntryMemory
from isoform.check.surroundings import Surroundings
from isoform.check.unicorn_cpu import PAGE_LIMIT, MemoryLimitError, UnicornCpu
from isoform.load.image import Image
from isoform.model.allocation import AllocationCall, Blocks
from isoform.model.callee import LONGEST_FORMAT, ArgumentPart, Callee, Parts
from isoform.model.contract import NoValueError, OutputCall, PureCall, stored_size
from isoform.model.library import library_function
from isoform.model.library_function import Meaning
from isoform.model.outcome import (
    FRAME_LIMIT,
    MOST_SIGHTS,
    PAGE,
    RETURN_ADDRESS,
    STACK_POINTER,
    THROUGH_A_POINTER,
    CallEffect,
    CallKey,
    CallRecord,
    Inputs,
    Outcome,
    Status,
    is_own_object,
    left_in_results,
    mixed_number,
)

LARGEST_COPY = 1 << 20
_WORD = 8


@dataclass(frozen=True)
class RegisterNames:
    """The names of the registers that every run looks at. Registers are given with their size in bytes."""

    counter: str
    stack: str
    integer_arguments: tuple[str, ...]
    results: tuple[tuple[str, int], ...]
    scratch: tuple[tuple[str, int], ...]
    """Registers that a call leaves undefined."""
    above: int
    """Bytes from the stack pointer at entry that belong to the function: its return address."""


class ReplayedRun(ABC):
    """One run."""

    names: RegisterNames

    def __init__(
        self,
        cpu: UnicornCpu,
        image: Image,
        inputs: Inputs,
        fuel: int,
        around: Surroundings,
    ) -> None:
        self._cpu, self._image, self._inputs, self._fuel = cpu, image, inputs, fuel
        self._library = {call.name: call for call in around.library}
        self._blocks = Blocks(lambda a: cpu.read(a, 1)[0], lambda a, byte: cpu.write(a, bytes([byte])))
        self._around = around
        self._externals = {**image.externals, **around.outside}
        self._stack_pointer = inputs.registers.get(self.names.stack, STACK_POINTER) & ADDRESS_MASK
        self._ending: tuple[Status, str] | None = None
        self._return_target = 0
        self._steps = 0
        self._trace: list[int] = []
        self._calls: list[CallRecord] = []
        self._last: tuple[CallRecord, Mapping[str, int], Mapping[int, int]] | None = None
        """The last call, if it was of an idempotent function: with its results, and memory behind it."""
        self._call_sites: set[int] = set()
        self._came_back = False
        """Whether an outside function has returned and no code has run since."""
        self._rewritten = False
        """Whether the run was stopped only because the next instruction was rewritten."""
        self._read: set[int] = set()
        self._written: set[int] = set()
        cpu.reset(self, EntryMemory(image, inputs, self._stack_pointer, has_return_slot=self.names.above > 0))
        self._begin()
        self._set_registers()

    # What differs between machines

    @abstractmethod
    def _begin(self) -> None:
        """Initialise the machine's own state."""

    @abstractmethod
    def _set_registers(self) -> None:
        """To their values at entry."""

    @abstractmethod
    def _registers(self) -> dict[str, int]:
        """All containers at exit."""

    @abstractmethod
    def step(self, address: int) -> bool:
        """Called before each instruction; False keeps it from running."""

    @abstractmethod
    def interrupt(self, number: int) -> None:
        """Called at a fault or interrupt, which ends the run."""

    @abstractmethod
    def _fault(self, error: str, address: int) -> None:
        """The CPU model could not continue."""

    @abstractmethod
    def _jumped(self) -> bool:
        """Whether the last instruction was a jump (rather than a return)."""

    @abstractmethod
    def _return_address(self) -> int:
        """The return address of an outside function. Afterwards the state is as if it had returned."""

    def _is_absent(self, name: str | None) -> bool:
        """Whether this weak symbol has no definition."""
        return False

    def _vectors_passed(self) -> int:
        """The most vector registers that a call with a variable number of arguments uses."""
        return 0

    @abstractmethod
    def _scramble_rest(self, number: int) -> None:
        """What else a call leaves undefined."""

    @abstractmethod
    def _settle(self) -> None:
        """Called after the last instruction."""

    # Following control

    def _run_code(self, address: int) -> int:
        """Run until control leaves the image's code or the run ends; returns where control is then."""
        self._came_back = False
        error = self._cpu.start(address)
        reached = self._cpu.get(self.names.counter)
        if self._ending is None and error is not None:
            self._fault(error, reached)
        elif self._ending is None and self._is_inside(reached) and not self._rewritten:
            self._end(Status.UNSUPPORTED, f"the CPU model stopped at {reached:#x}")
        self._rewritten = False
        return reached

    def follow(self, entry: int) -> None:
        try:
            address = self._run_code(entry) if self._image.code_at(entry, 1) else entry
            while self._ending is None:
                if self._is_inside(address):
                    address = self._run_code(address)
                else:
                    address = self._leave(address)
            self._settle()
        except MemoryLimitError:
            self._end(Status.UNSUPPORTED, f"memory on more than {PAGE_LIMIT} pages")

    def _is_inside(self, address: int) -> bool:
        return address not in self._externals and bool(self._image.code_at(address, 1))

    def _pay(self) -> bool:
        if self._steps >= self._fuel:
            self._end(Status.OUT_OF_FUEL)
            return False
        self._steps += 1
        return True

    def access(self, address: int, size: int, is_write: bool) -> None:
        for byte in range(address, address + size) if self._around.watched else ():
            if any(low <= byte < high for low, high in self._around.watched) and byte not in self._written:
                (self._written if is_write else self._read).add(byte)

    def _end(self, status: Status, reason: str = "") -> None:
        if self._ending is None:
            self._ending = status, reason

    def _leave(self, address: int) -> int:
        """Control arrived at an address outside the image's code: returns where it continues, if it does."""
        own_code = self._image.aliases.get(address)
        name = self._externals.get(address)
        called = bool(self._trace) and self._trace[-1] in self._call_sites
        if not called and self._jumped() and self._cpu.get(self.names.stack) == self._stack_pointer:
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

    def _content(self, part: ArgumentPart) -> int:
        if part.register is not None:
            value = self._cpu.get(part.register) >> (8 * part.offset)
        else:
            start = (self._cpu.get(self.names.stack) + part.offset) & ADDRESS_MASK
            value = int.from_bytes(self._cpu.read(start, part.size), "little")
        return value & ((1 << (8 * part.size)) - 1)

    def _parts(self, callee: Callee) -> Parts:
        text = None
        if callee.format is not None:
            text = self._text_at(self._content(callee.parts[callee.format.argument]))
        parts = callee.parts_of_call(text)
        return callee.parts_at_most(self._vectors_passed()) if parts is None else parts

    def _text_at(self, start: int) -> bytes | None:
        found = b""
        while len(found) < LONGEST_FORMAT:
            byte = self._cpu.read((start + len(found)) & ADDRESS_MASK, 1)
            if byte == b"\0":
                return found
            found += byte
        return None

    def _outside_call(self, name: str, address: int) -> int:
        callee = self._around.call_arguments(
            name or self._around.through.get(self._trace[-1] if self._trace else 0, "")
        )
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
            again = self._repeated(callee, record)
            if again is not None:
                self._scramble()
                self._give_results(callee, again)
                return self._return_address()
            number, first = len(self._calls), self.names.results[0][0]
            output = self._output(known) if isinstance(known, OutputCall) else None
            self._calls.append(CallRecord(*record, record[1], self._sees(callee, *record), output))
            if not callee.returns:
                self._end(Status.EXITED, name or "a function")
                return 0
            space = self._cpu.get(self.names.integer_arguments[0])
            self._scramble()
            counts = output is not None and isinstance(known, OutputCall) and known.counts
            usual = CallEffect({first: len(output[1])} if counts and output is not None else {})
            effect = self._inputs.call_results.get(CallKey(*record, number), usual)
            given = {**effect.registers, callee.space: space} if callee.space is not None else effect.registers
            self._give_results(callee, given)
            for at, byte in effect.memory.items():
                self._cpu.write(at, bytes([byte]))
            if callee.is_idempotent:
                self._last = self._calls[-1], given, self._outside_frame(dict(self._changed_bytes()))
        else:
            self._scramble()
            self._give_first(result & ADDRESS_MASK)
        return self._return_address()

    def _repeated(self, callee: Callee, called: tuple[str, tuple[int, ...]]) -> Mapping[str, int] | None:
        """The results of an idempotent function that is called again, with nothing called or stored since."""
        if not callee.is_idempotent or self._last is None or any(map(is_own_object, called[1])):
            return None
        record, results, memory = self._last
        is_same = self._calls[-1] is record and (record.callee, record.arguments) == called
        return results if is_same and self._outside_frame(dict(self._changed_bytes())) == memory else None

    def _output(self, output: OutputCall) -> tuple[int | None, bytes] | None:
        """What a call writes to which stream, if that is known."""
        words = tuple(self._cpu.get(name) for name in self.names.integer_arguments)
        try:
            text = output.written(words, lambda address: self._cpu.read(address, 1)[0])
        except NoValueError:
            return None
        return None if output.stream is None else words[output.stream], text

    def _sees(self, callee: Callee, name: str, arguments: tuple[int, ...]) -> dict[int, int] | None:
        """What a callee finds in memory, if it may read all of it."""
        from isoform.load.known import known_signature

        if len(self._calls) >= MOST_SIGHTS or (callee.is_library and known_signature(name) is not None):
            return None
        changes = self._outside_frame(dict(self._changed_bytes()))
        return self._blocks.left(changes, {*arguments, *self._passed()}).observed(changes, ())

    def _outside_frame(self, changed: dict[int, int]) -> dict[int, int]:
        above = self.names.above + self._around.stack_argument_bytes
        frame = range(self._stack_pointer - FRAME_LIMIT, self._stack_pointer + above)
        return {address: byte for address, byte in changed.items() if address not in frame}

    def _allocate(self, function: AllocationCall, arguments: tuple[int, ...]) -> int:
        first = self.names.results[0][0]
        given = self._inputs.call_results.get(CallKey(function.name, arguments, len(self._calls)))
        self._calls.append(CallRecord(function.name, function.shown(arguments)))
        try:
            block = self._blocks.call(function, arguments, given is not None and given.registers.get(first) == 0)
        except NoValueError:
            self._end(Status.UNSUPPORTED, f"{function.name} with arguments for which its result is not known")
            return 0
        self._scramble()
        self._give_first(block)
        return self._return_address()

    def _compute(self, pure: PureCall, arguments: tuple[int, ...]) -> int:
        """A callee that only computes: its real results, or else those that the inputs give for these arguments."""
        try:
            values = self._values(pure, arguments)
        except NoValueError:
            self._end(Status.UNSUPPORTED, f"{pure.name} with arguments for which its result is not known")
            return 0
        for (pointer, function), value in zip(pure.stores, values[len(pure.results) :], strict=True):
            self._cpu.write(arguments[pointer], value.to_bytes(stored_size(function), "little"))
        self._scramble()
        for register, size in self.names.results:
            if size == _WORD:
                self._cpu.set(register, mixed_number(self._inputs.side_seed, len(self._trace), _WORD))
        for result, value in zip(pure.results, values, strict=False):
            rest = self._cpu.get(result.register) & ~((1 << result.bits) - 1)
            self._cpu.set(result.register, rest | value)
        return self._return_address()

    def _values(self, pure: PureCall, arguments: tuple[int, ...]) -> tuple[int, ...]:
        if pure.value is not None:
            return pure.value(arguments, lambda address: self._read_for_call(address)[0])
        effect = self._inputs.call_results.get(CallKey(pure.name, arguments, None), CallEffect({}))
        return tuple(effect.registers.get(r.register, 0) & ((1 << r.bits) - 1) for r in pure.results)

    def _give_results(self, callee: Callee, results: Mapping[str, int]) -> None:
        """Put the results where they belong, and beside them what this side's seed says."""
        given = {g.register: g for g in callee.results}
        for number, (register, size) in enumerate(self.names.results):
            here = given.get(register)
            bits = here.bits if here is not None else 0
            value = results.get(register, 0)
            value = here.as_left(value) if here is not None else value
            left = left_in_results(self._inputs.side_seed, len(self._calls), number, size)
            self._cpu.set(register, (value & bits) | (left & ~bits & ((1 << (8 * size)) - 1)))

    def _give_first(self, value: int) -> None:
        """A result in the first register."""
        for number, (register, _) in enumerate(self.names.results):
            self._cpu.set(register, 0 if number else value)

    def _library_call(self, name: str, arguments: tuple[int, ...]) -> int | None:
        """Execute memset, memcpy, memmove or strlen and return its result; None if the callee is none of them."""
        meaning = library_function(name).meaning
        if meaning is None or len(arguments) != meaning.arguments:
            return None
        if meaning is Meaning.LENGTH:
            return self._text_length(arguments[0])
        destination, source, size = arguments
        if size > LARGEST_COPY:
            raise MemoryLimitError
        data = bytes([source & 0xFF]) * size if meaning is Meaning.FILL else self._read_for_call(source, size)
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
        """Give what a call leaves undefined values that differ between the sides, so that code relying on them
        shows."""
        first = len(self._calls) << 16
        for index, (name, width) in enumerate(self.names.scratch, first):
            self._cpu.set(name, mixed_number(self._inputs.side_seed, index, width))
        self._scramble_rest(mixed_number(self._inputs.side_seed, first - 1, 2))

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

    def _changed_bytes(self) -> Iterator[tuple[int, int]]:
        for base in sorted(self._cpu.entry_pages):
            before, after = self._cpu.entry_pages[base], self._cpu.read(base, PAGE)
            for start in range(0, PAGE, 64) if before != after else ():
                if before[start : start + 64] != after[start : start + 64]:
                    yield from ((base + n, after[n]) for n in range(start, start + 64) if before[n] != after[n])


_one_at_a_time = threading.Lock()
"""A Unicorn machine is reused from run to run."""


def run_alone(
    execution: type[ReplayedRun],
    cpu: UnicornCpu,
    image: Image,
    entry: int,
    inputs: Inputs,
    fuel: int,
    trace: bool,
    around: Surroundings,
) -> Outcome:
    """One run from `entry` until control leaves the image's code, while no other thread runs anything."""
    with _one_at_a_time:
        running = execution(cpu, image, inputs, fuel, around)
        stop_watching = cpu.watch_memory() if around.watched else lambda: None
        try:
            running.follow(entry)
        finally:
            stop_watching()
        return running.outcome(trace)
