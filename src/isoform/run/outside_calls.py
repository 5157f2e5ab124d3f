"""What a run does at calls to outside code: what the contract says about them, applied to its registers and memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from isoform.lift.function import Call
from isoform.lift.known_calls import with_meaning
from isoform.load.image import Image
from isoform.load.known import known_signature
from isoform.model.allocation import Allocating, AllocationCall, Blocks, LibraryCall
from isoform.model.callee import LONGEST_FORMAT, ArgumentPart, Callee, Callees, Parts
from isoform.model.contract import NoValueError, OutputCall, PureCall, Result, stored_size, system_callee
from isoform.model.evaluate import mask
from isoform.model.machine import Machine
from isoform.model.outcome import (
    MOST_SIGHTS,
    TEXT_FILLED,
    THROUGH_A_POINTER,
    CallEffect,
    CallKey,
    CallRecord,
    CallResult,
    Inputs,
    in_frame,
    is_own_object,
    left_in_results,
    mixed_number,
    mixed_result,
)
from isoform.run.libc import carry_out
from isoform.run.running import RunningMemory


class RefusedCallError(Exception):
    """A call about which nothing is known."""


class OutsideCalls:
    """The calls of one run, and their effects."""

    def __init__(
        self,
        image: Image,
        library: Iterable[LibraryCall],
        machine: Machine,
        registers: list[int],
        memory: RunningMemory,
        inputs: Inputs,
        callees: Callees,
        stack_pointer: int,
        outside_frame: Callable[[dict[int, int]], dict[int, int]],
        entry: int,
    ) -> None:
        self._image = image
        self._known = {call.name: call for call in library}
        self._variables = (*image.locals, *(v for v in image.arrays if v.start == entry and not v.from_body))
        """Of the function that begins at `entry`."""
        self._machine = machine
        self._position = machine.container_positions
        self._registers = registers
        self._memory = memory
        self._inputs = inputs
        self._callees = callees
        self._stack_pointer = stack_pointer
        """At entry."""
        self._outside_frame = outside_frame
        """The changed bytes that are not the function's own."""
        self.calls: list[CallRecord] = []
        self.results: list[CallResult] = []
        self._last: tuple[CallRecord, CallEffect, Mapping[int, int]] | None = None
        """The last call, if it was of an idempotent function: with what it gave, and memory behind it."""
        self._scratch = machine.scratch_places
        self.blocks = Blocks(memory.byte, lambda address, byte: memory.store(address, 1, byte))

    def make(self, call: Call) -> bool:
        """Do what the contract says about a call to outside code; True if it ends the run."""
        name = call.callee or self._image.externals.get(self._memory.target, "")
        if call.system:
            self._system_call(name)
            return False
        convention, initial = self._machine.convention, self._machine.initial
        if any(self._registers[self._position[register]] != initial[register] for register in convention.as_at_entry):
            raise RefusedCallError(f"a call of {name or 'a function'} with the direction flag set")
        if call.carried_out:
            self._leave_carried_out(call.pure)
            return False
        inside = None if name else self._image.function_around(self._memory.target)
        if inside is not None:
            raise RefusedCallError(f"a jump into {inside}, behind its start")
        if call.callee is None and call.then is not None and name in self._known:
            # Compilers keep the address of a function in a register over several calls.
            call = with_meaning(call, self._known[name], is_written_out=True)
        callee = self._callees(name or call.through)
        if callee.refused:
            raise RefusedCallError(callee.refused)
        parts = self._parts(callee)
        arguments = tuple(part.known(self._content(part)) for part in parts if part.reads)
        if call.pure is not None and (call.pure.only_if_null is None or not arguments[call.pure.only_if_null]):
            self._compute(call.pure, arguments)
            return False
        result = carry_out(self._memory, name, arguments) if callee.is_library and not call.present else None
        if result is not None:
            self._leave_call(result)
            return False
        shown = tuple(self._content(part) & (part.reads or part.may) for part in parts if part.reads)
        if not name:
            arguments, shown = (self._memory.target, *arguments), (self._memory.target, *shown)
        name = name or THROUGH_A_POINTER
        if call.allocation is not None:
            self._allocate(call.allocation, arguments)
            return False
        again = self._repeated(callee, name, arguments)
        if again is not None:
            self._leave_call(0)
            self._give_results(callee, again.registers)
            return False
        sees, output = self._sees(callee, name, arguments), self._output(call.output)
        count = len(output[1]) if output is not None and call.output is not None and call.output.counts else None
        effect = self._effect_of(callee, name, arguments, count)
        self.calls.append(CallRecord(name, arguments, shown, sees, output))
        if call.then is None or not callee.returns:
            return True
        registers = dict(effect.registers)
        if callee.space is not None:
            registers[callee.space] = self._registers[self._position[self._machine.convention.integer_arguments[0]]]
        self.results.append(CallResult(name, arguments, tuple(registers.items()), effect.memory))
        self._leave_call(0)
        self._give_results(callee, registers)
        self._memory.store_outside(effect.memory)
        if self._inputs.bytes_filled:
            self._fill_objects(arguments)
        if callee.is_idempotent:
            self._last = self.calls[-1], CallEffect(registers), self._outside_frame(self._memory.changes())
        return False

    def _repeated(self, callee: Callee, name: str, arguments: tuple[int, ...]) -> CallEffect | None:
        """What an idempotent function gives that is called again with the same arguments, if no other call was made
        since and nothing stored outside the frame: that is no call of its own."""
        if not callee.is_idempotent or self._last is None:
            return None
        record, effect, memory = self._last
        is_same = self.calls[-1] is record and (record.callee, record.arguments) == (name, arguments)
        if not is_same or self._outside_frame(self._memory.changes()) != memory:
            return None
        if any(map(is_own_object, arguments)):
            raise RefusedCallError(f"a second call of {name}, which may find something else in a local variable")
        return effect

    def _fill_objects(self, arguments: tuple[int, ...]) -> None:
        """What a callee may write into objects of this function that it gets."""
        for address in filter(is_own_object, arguments):
            size = abs(self._inputs.bytes_filled)
            if in_frame(address):
                offset = address - self._stack_pointer
                known = [v for v in self._variables if v.offset <= offset < v.offset + v.size]
                size = min(max((v.offset + v.size - offset for v in known), default=size), -offset)
            if size > 0:
                self._memory.store(address, size, mixed_number(self._inputs.side_seed, 0, size))
                if self._inputs.bytes_filled < 0 and size > TEXT_FILLED:
                    self._memory.store(address + TEXT_FILLED, 1, 0)

    def _allocate(self, function: AllocationCall, arguments: tuple[int, ...]) -> None:
        """Blocks are at the same place in every run; the inputs only say whether the allocation succeeds."""
        given = self._inputs.call_results.get(CallKey(function.name, arguments, len(self.calls)))
        register = self._machine.convention.result[0]
        fails = given is not None and given.registers.get(register) == 0
        self.calls.append(CallRecord(function.name, function.shown(arguments)))
        block = self.blocks.call(function, arguments, fails)
        if function.kind is not Allocating.TAKES:
            self.results.append(CallResult(function.name, arguments, ((register, block),)))
        self._leave_call(block)

    def _output(self, output: OutputCall | None) -> tuple[int | None, bytes] | None:
        """What a call writes to which stream, if that is known."""
        if output is None:
            return None
        names = self._machine.convention.integer_arguments
        words = tuple(self._registers[self._position[name]] for name in names)
        try:
            text = output.written(words, lambda address: self._memory.load(address, 1))
        except NoValueError:
            return None
        return None if output.stream is None else words[output.stream], text

    def _sees(self, callee: Callee, name: str, arguments: tuple[int, ...]) -> dict[int, int] | None:
        """What a callee finds in memory, if it may read all of it: a library function only reads where its arguments
        lead."""
        if len(self.calls) >= MOST_SIGHTS or (callee.is_library and known_signature(name) is not None):
            return None
        changes = self._outside_frame(self._memory.changes())
        return self.blocks.left(changes, {*arguments, *self.passed()}).observed(changes, ())

    def _leave_carried_out(self, pure: PureCall | None) -> None:
        """After the code that stands for a call: its results are already in place."""
        results = (Result(self._machine.convention.result[0], 64),) if pure is None else pure.results
        values = [self._registers[self._position[result.register]] & ((1 << result.bits) - 1) for result in results]
        self._leave_with(results, values)

    def _compute(self, pure: PureCall, arguments: tuple[int, ...]) -> None:
        """A callee that only computes: the real value if it is known, else always the same one for the same
        arguments."""
        if pure.value is not None:
            values = pure.value(arguments, lambda address: self._memory.load(address, 1))
        else:
            given = self._inputs.call_results.get(CallKey(pure.name, arguments, None), CallEffect({})).registers
            values = tuple(given.get(r.register, 0) & ((1 << r.bits) - 1) for r in pure.results)
        self.results.append(CallResult(pure.name, arguments, _named(pure.results, values)))
        for (pointer, function), value in zip(pure.stores, values[len(pure.results) :], strict=True):
            self._memory.store(arguments[pointer], stored_size(function), value)
        self._leave_with(pure.results, values[: len(pure.results)])

    def _leave_with(self, results: Sequence[Result], values: Sequence[int]) -> None:
        """The effect of a call whose results are known and which leaves everything else undefined."""
        convention = self._machine.convention
        self._leave_call(0)
        for register in (*convention.result, *convention.float_result):
            size = self._machine.registers[register].size
            self._registers[self._position[register]] = self._memory.undefined(size)
        for result, value in zip(results, values, strict=True):
            position = self._position[result.register]
            self._registers[position] = self._registers[position] & ~((1 << result.bits) - 1) | value

    def _parts(self, callee: Callee) -> Parts:
        text = None
        if callee.format is not None:
            text = self._text_at(self._content(callee.parts[callee.format.argument]))
        vectors = self._registers[self._position[self._machine.convention.result[0]]] & 0xFF if callee.vectors else None
        parts = callee.parts_of_call(text)
        return callee.parts_at_most(vectors) if parts is None else parts

    def _text_at(self, address: int) -> bytes | None:
        found = bytearray()
        while len(found) < LONGEST_FORMAT:
            byte = self._memory.load((address + len(found)) & mask(8), 1)
            if not byte:
                return bytes(found)
            found.append(byte)
        return None

    def _give_results(self, callee: Callee, results: Mapping[str, int]) -> None:
        """Put the results into their registers, and values that differ between the sides into everything else that the
        callee leaves in result registers."""
        convention = self._machine.convention
        given = {g.register: g for g in callee.results}
        for number, register in enumerate((*convention.result, *convention.float_result)):
            size = self._machine.registers[register].size
            left = left_in_results(self._inputs.side_seed, len(self.calls), number, size)
            here = given.get(register)
            bits = here.bits if here is not None else 0
            value = results.get(register, 0)
            value = here.as_left(value) if here is not None else value
            self._registers[self._position[register]] = (value & bits) | (left & ~bits & mask(size))

    def _leave_call(self, result: int) -> None:
        """The effect of every call."""
        convention = self._machine.convention
        whole = self._machine.scratch_bytes
        left = self._memory.undefined(whole).to_bytes(whole, "little")
        for position, start, size in self._scratch:
            self._registers[position] = (
                left[start] & 1 if size == 1 else int.from_bytes(left[start : start + size], "little")
            )
        for register in (*convention.result, *convention.float_result):
            self._registers[self._position[register]] = 0
        self._registers[self._position[convention.result[0]]] = result
        if convention.stack_pointer is not None:
            pointer = self._position[convention.stack_pointer]
            self._registers[pointer] += convention.stack_adjustment

    def _system_call(self, name: str) -> None:
        convention = self._machine.convention
        service = system_callee(self._machine, self._registers[self._position[convention.system_arguments[0]]])
        arguments = tuple(self._content(part) & part.reads for part in service.parts)
        effect = self._effect_of(service, name, arguments)
        self.calls.append(CallRecord(name, arguments, arguments))
        self.results.append(CallResult(name, arguments, tuple(effect.registers.items()), effect.memory))
        first = convention.result[0]
        self._registers[self._position[first]] = effect.registers.get(first, 0)
        self._memory.store_outside(effect.memory)
        for register in convention.scratch_after_system:
            self._registers[self._position[register]] = self._memory.undefined(self._machine.registers[register].size)

    def _effect_of(self, callee: Callee, name: str, arguments: tuple[int, ...], known: int | None = None) -> CallEffect:
        """`known` is what a library function returns unless it fails."""
        number = len(self.calls)
        given = self._inputs.call_results.get(CallKey(name, arguments, number))
        if given is not None:
            return given
        if callee.primary is None:
            return CallEffect({})
        result = mixed_result(self._inputs.call_seed, name, arguments, number + 1) if known is None else known
        return CallEffect({callee.primary.register: result})

    def _content(self, part: ArgumentPart) -> int:
        if part.register is not None:
            register = self._registers[self._position[part.register]]
            return register >> (8 * part.offset) & mask(part.size)
        pointer = self._machine.convention.stack_pointer
        assert pointer is not None
        return self._memory.load(self._registers[self._position[pointer]] + part.offset, part.size)

    @property
    def last_name(self) -> str:
        """The name of the function that was called last; empty if it has none."""
        name = self.calls[-1].callee if self.calls else ""
        return "" if name == THROUGH_A_POINTER else name

    def passed(self) -> set[int]:
        """The arguments of outside functions."""
        return {argument for call in self.calls for argument in call.arguments}


def _named(results: Sequence[Result], values: Sequence[int]) -> tuple[tuple[str, int], ...]:
    return tuple((result.register, value) for result, value in zip(results, values, strict=False))
