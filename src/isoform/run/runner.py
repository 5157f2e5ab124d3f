"""Concrete execution of a compiled function, with fuel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from isoform.lift.cfg import SELF
from isoform.lift.function import Block, Call
from isoform.load.known import known_signature
from isoform.model.allocation import Allocating, AllocationCall, Blocks
from isoform.model.callee import LONGEST_FORMAT, NOTHING, Callee, Callees, Part, Parts
from isoform.model.contract import NoValueError, OutputCall, PureCall, Result, stored_size, system_callee
from isoform.model.evaluate import evaluate, mask
from isoform.model.microop import ABORT_REASONS, Kind
from isoform.model.microop import code as code_address
from isoform.model.outcome import (
    FRAME_LIMIT,
    MOST_SIGHTS,
    RETURN_ADDRESS,
    STACK_POINTER,
    TEXT_FILLED,
    THROUGH_A_POINTER,
    CallEffect,
    CallKey,
    CallRecord,
    CallResult,
    Inputs,
    Outcome,
    Status,
    in_frame,
    is_own_object,
    left_in_results,
    mixed_number,
    mixed_result,
)
from isoform.model.values import dataclass
from isoform.run.compile import ABORTED, FIRST_CALL, RETURNED, UNRESOLVED, UNSUPPORTED, Program, program_at
from isoform.run.libc import carry_out
from isoform.run.memory import CodeModifiedError, Memory, StackTooSmallError, TooMuchMemoryError


class _Machine(Memory):
    """What generated code sees as `M`: memory and the few registers of the runner itself."""

    reason = 0
    where = -1
    """Index in its block of the ABORT that ended the run; -1 if none did."""
    target = 0
    through = ""
    """Type of the pointer that the last computed jump went through, where known."""
    jump = 0
    """The address of that jump."""
    outside: int | None = None
    """Number of the first ASSUME that did not hold."""
    side_seed = 0
    _undefined = 0

    def undefined(self, size: int) -> int:
        self._undefined += 1
        return mixed_number(self.side_seed, self._undefined, size)

    def evaluate(self, kind: str, out_size: int, sizes: tuple[int, ...], values: tuple[int, ...]) -> int:
        return evaluate(Kind[kind], out_size, sizes, values)


class _Watched(_Machine):
    """Also notes the address of every load and store that the code makes, in order."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.touched: list[int] = []

    def load(self, address: int, size: int) -> int:
        self.touched.append(address)
        return super().load(address, size)

    def store(self, address: int, size: int, value: int) -> None:
        self.touched.append(address)
        made = len(self.touched)
        super().store(address, size, value)
        del self.touched[made:]  # a store across two pages is made byte by byte


class RefusedCallError(Exception):
    """A call of which nothing can be said."""


class Visit(NamedTuple):
    """One block of a run: the program it is of (a run may jump into code that was lifted apart), its number there, and
    how many loads and stores were made before it."""

    program: Program
    number: int
    touched: int

    @property
    def block(self) -> Block:
        return self.program.function.blocks[self.program.ids[self.number]]


@dataclass(frozen=True)
class Traced:
    """A run with the way it took."""

    outcome: Outcome
    visits: list[Visit]
    targets: list[int]
    """For each visit that came to the block's end, the address last jumped to, called or returned to."""
    touched: list[int]
    """Addresses of all loads and stores, in order."""
    abort: int
    """The index in the last block of the ABORT that ended the run; -1 if none did."""


@dataclass(frozen=True)
class RunOptions:
    fuel: int = 10_000
    trace: bool = False
    record_reads: bool = False
    stack_argument_bytes: int = 0
    inline: bool = True
    """Whether calls through pointers to code that is present are followed; else they decide nothing."""
    note_stores: bool = False


def run(program: Program, inputs: Inputs, options: RunOptions, callees: Callees = lambda name: NOTHING) -> Outcome:
    """Run to the end, a fault, or out of fuel."""
    return _Run(program, inputs, options, callees).outcome()


def run_traced(
    program: Program, inputs: Inputs, options: RunOptions, callees: Callees = lambda name: NOTHING
) -> Traced:
    """The same, with every block on the way."""
    return _Run(program, inputs, options, callees, watched=True).traced()


class _Run:
    def __init__(
        self, program: Program, inputs: Inputs, options: RunOptions, callees: Callees, watched: bool = False
    ) -> None:
        self._program = program
        self._inputs = inputs
        self._options = options
        self._callees = callees
        machine = program.function.machine
        self._machine = machine
        self._names = machine.containers
        self._position = machine.container_positions
        pointer = machine.convention.stack_pointer
        given = inputs.registers.get
        self._registers = [given(name, 0) for name in self._names]
        if pointer and pointer not in inputs.registers:
            self._registers[self._position[pointer]] = STACK_POINTER
        for name, value in machine.initial.items():
            self._registers[self._position[name]] = value
        link = machine.convention.return_address
        if link is not None and link not in machine.initial:
            self._registers[self._position[link]] = RETURN_ADDRESS
        self._return_address = machine.initial.get(link, RETURN_ADDRESS) if link else RETURN_ADDRESS
        self._stack_pointer = self._registers[self._position[pointer]] if pointer else 0
        kind = _Watched if watched else _Machine
        self._memory = kind(machine, program.function.image, inputs, self._stack_pointer, program.guarded)
        self._visits: list[Visit] = []
        self._targets: list[int] = []
        self._memory.side_seed = inputs.side_seed
        if options.record_reads:
            self._memory.recorded = set()
        if options.note_stores:
            self._memory.stores = set()
        self._calls: list[CallRecord] = []
        self._results: list[CallResult] = []
        self._blocks = Blocks(lambda a: self._memory.byte(a), lambda a, byte: self._memory.store(a, 1, byte))
        self._trace: list[int] = []
        self._steps = 0
        self._led_by_input = False

    def outcome(self) -> Outcome:
        try:
            status, reason = self._loop()
        except TooMuchMemoryError:
            status, reason = Status.UNSUPPORTED, "more memory than a run may touch"
        except StackTooSmallError:
            status, reason = Status.UNSUPPORTED, f"more than {FRAME_LIMIT >> 20} MiB of stack"
        except CodeModifiedError:
            status, reason = Status.UNSUPPORTED, "code that modifies itself"
        except NoValueError:
            status, reason = Status.UNSUPPORTED, "a library function with arguments for which its result is not known"
        except RefusedCallError as error:
            status, reason = Status.UNSUPPORTED, str(error)
        return self._finish(status, reason)

    def traced(self) -> Traced:
        outcome = self.outcome()
        assert isinstance(self._memory, _Watched)
        return Traced(outcome, self._visits, self._targets, self._memory.touched, self._memory.where)

    def _loop(self) -> tuple[Status, str]:
        program = self._program
        code, costs = program.code, program.costs
        registers, memory = self._registers, self._memory
        fuel = self._options.fuel
        index = program.index[program.function.entry]
        trace = self._trace if self._options.trace else None
        touched = memory.touched if isinstance(memory, _Watched) else None
        visits, targets = self._visits, self._targets
        recursions: list[tuple[int, Program, int]] = []
        steps = 0
        try:
            while True:
                steps += costs[index]
                if steps > fuel:
                    return Status.OUT_OF_FUEL, ""
                if trace is not None:
                    trace.extend(program.function.blocks[program.ids[index]].steps)
                if touched is not None:
                    visits.append(Visit(program, index, len(touched)))
                index = code[index](registers, memory)
                if touched is not None:
                    targets.append(memory.target)
                while index < 0:
                    if index <= FIRST_CALL:
                        call, index = program.calls[FIRST_CALL - index]
                        if call.callee == SELF and call.then is not None:
                            recursions.append((call.then.address, program, index))
                            index = program.index[program.function.entry]
                        elif call.callee is None and (present := self._code_called(program)) is not None:
                            entered = self._entered(program, present)
                            if entered is None or call.then is None:
                                return Status.UNSUPPORTED, f"a call through a pointer to {self._name(present)}"
                            recursions.append((call.then.address, program, index))
                            program, code, costs = entered, entered.code, entered.costs
                            index = program.index[program.function.entry]
                        elif self._outside_call(call) or index < 0:
                            return Status.EXITED, call.callee or "a function"
                    elif index == RETURNED and recursions and memory.target == recursions[-1][0]:
                        _, program, index = recursions.pop()
                        code, costs = program.code, program.costs
                    elif index in (RETURNED, UNRESOLVED) and memory.target != self._return_address:
                        going_on = program_at(program, memory.target)
                        if going_on is None:
                            return self._elsewhere(index, program, bool(recursions))
                        if index == UNRESOLVED:
                            self._note_jump(program)
                        memory.fetch(going_on.guarded)
                        program, code, costs, index = going_on, going_on.code, going_on.costs, 0
                    else:
                        return self._end(index, program)
        finally:
            self._steps = steps

    def _note_jump(self, program: Program) -> None:
        """A computed jump led to code that is not in the function. Where an input says so, the input is a pointer into
        the function, and what it leads to is no code of the function's own."""
        self._led_by_input = self._led_by_input or self._inputs.holds(self._memory.target)
        if not self._led_by_input:
            program.pieces.note_jump(self._memory.jump, self._memory.target)

    def _code_called(self, program: Program) -> int | None:
        """Where the code is that a call through a pointer goes to, if it is here."""
        image, target = program.function.image, self._memory.target
        address = image.aliases.get(target, target)
        return address if target not in image.externals and image.code_at(address) else None

    def _entered(self, program: Program, address: int) -> Program | None:
        """The function that is called; none where that is not to be followed, or is no place to call."""
        symbol = program.function.image.symbol_at(address)
        if not self._options.inline or symbol is None or not symbol.is_function:
            return None
        return program_at(program, address)

    def _name(self, address: int) -> str:
        return self._program.function.image.name_at(address) or f"{address:#x}"

    def _end(self, code: int, program: Program) -> tuple[Status, str]:
        memory = self._memory
        if code == ABORTED:
            return Status.ABORTED, ABORT_REASONS[memory.reason]
        if code == UNSUPPORTED:
            if memory.reason in program.function.refused:
                return Status.UNSUPPORTED, program.function.refused[memory.reason]
            instruction = program.function.instructions.get(memory.reason)
            text = "the end of its code" if instruction is None else instruction.text
            return Status.UNSUPPORTED, f"{text} at {memory.reason:#x}"
        return Status.DONE, ""

    def _elsewhere(self, code: int, program: Program, nested: bool) -> tuple[Status, str]:
        """Control went to an address that is neither the caller nor code that can be followed."""
        present = self._code_called(program)
        if present is not None and present % self._machine.instruction_alignment == 0:
            why = program.pieces.refused.get(present, "it cannot be followed")
            return Status.UNSUPPORTED, f"a jump to {self._name(present)}: {why}"
        if code == UNRESOLVED and not nested and self._stack_is_as_at_entry():
            return self._tail_call()
        if self._machine.memory is not None and self._machine.memory.zeroed:
            if self._memory.target % self._machine.instruction_alignment == 0:
                self._memory.fetch(frozenset({self._memory.target}))
            return Status.ABORTED, "jump outside the program"
        if code == RETURNED:
            return Status.DONE, ""
        return Status.UNSUPPORTED, f"a computed jump to {self._memory.target:#x}"

    def _stack_is_as_at_entry(self) -> bool:
        pointer = self._machine.convention.stack_pointer
        if pointer is None or not self._machine.convention.return_address_on_stack:
            return False
        return self._registers[self._position[pointer]] == self._stack_pointer

    def _tail_call(self) -> tuple[Status, str]:
        """A jump through a pointer with the stack as at entry: a call whose result is ours."""
        if self._memory.target == 0:
            return Status.ABORTED, "call of a null address"
        back = self._memory.load(self._stack_pointer, 8)
        comes_back = self._program.function.entry  # where to does not matter, as it is our caller
        call = Call(None, code_address(self._memory.target), comes_back, through=self._memory.through)
        self._outside_call(call)
        self._memory.target = back
        return Status.DONE, ""

    def _outside_call(self, call: Call) -> bool:
        """Do what the contract says of a call to outside code; True if it ends the run."""
        name = call.callee or self._program.function.image.externals.get(self._memory.target, "")
        if call.system:
            self._system_call(name)
            return False
        convention, initial = self._machine.convention, self._machine.initial
        if any(self._registers[self._position[register]] != initial[register] for register in convention.as_at_entry):
            raise RefusedCallError(f"a call of {name or 'a function'} with the direction flag set")
        if call.carried_out:
            self._leave_carried_out(call.pure)
            return False
        inside = None if name else self._program.function.image.function_around(self._memory.target)
        if inside is not None:
            raise RefusedCallError(f"a jump into {inside}, behind its start")
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
        sees, output = self._sees(callee, name, arguments), self._output(call.output)
        count = len(output[1]) if output is not None and call.output is not None and call.output.counts else None
        effect = self._effect_of(callee, name, arguments, count)
        self._calls.append(CallRecord(name, arguments, shown, sees, output))
        if call.then is None:
            return True
        registers = dict(effect.registers)
        if callee.space is not None:
            registers[callee.space] = self._registers[self._position[self._machine.convention.integer_arguments[0]]]
        self._results.append(CallResult(name, arguments, tuple(registers.items()), effect.memory))
        self._leave_call(0)
        self._give_results(callee, registers)
        for address, byte in effect.memory.items():
            self._memory.store(address, 1, byte)
        if self._inputs.bytes_filled:
            self._fill_objects(arguments)
        return False

    def _fill_objects(self, arguments: tuple[int, ...]) -> None:
        """What a callee may write into objects of this function that it is given."""
        for address in filter(is_own_object, arguments):
            size = abs(self._inputs.bytes_filled)
            if in_frame(address):
                offset = address - self._stack_pointer
                known = [v for v in self._program.function.image.locals if v.offset <= offset < v.offset + v.size]
                size = min(max((v.offset + v.size - offset for v in known), default=size), -offset)
            if size > 0:
                self._memory.store(address, size, mixed_number(self._inputs.side_seed, 0, size))
                if self._inputs.bytes_filled < 0 and size > TEXT_FILLED:
                    self._memory.store(address + TEXT_FILLED, 1, 0)

    def _allocate(self, function: AllocationCall, arguments: tuple[int, ...]) -> None:
        """Blocks are where they are in every run; the inputs only say whether there is one."""
        given = self._inputs.call_results.get(CallKey(function.name, arguments, len(self._calls)))
        register = self._machine.convention.result[0]
        fails = given is not None and given.registers.get(register) == 0
        self._calls.append(CallRecord(function.name, function.shown(arguments)))
        block = self._blocks.call(function, arguments, fails)
        if function.kind is not Allocating.TAKES:
            self._results.append(CallResult(function.name, arguments, ((register, block),)))
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
        """What a callee finds in memory, if it may look at all of it: one of the library's only looks where its
        arguments lead."""
        if len(self._calls) >= MOST_SIGHTS or (callee.is_library and known_signature(name) is not None):
            return None
        changes = self._outside_frame(self._memory.changes())
        return self._blocks.left(changes, {*arguments, *self._passed()}).observed(changes, ())

    def _leave_carried_out(self, pure: PureCall | None) -> None:
        """After the code that stands for a call: its results are where results are."""
        results = (Result(self._machine.convention.result[0], 64),) if pure is None else pure.results
        values = [self._registers[self._position[result.register]] & ((1 << result.bits) - 1) for result in results]
        self._leave_with(results, values)

    def _compute(self, pure: PureCall, arguments: tuple[int, ...]) -> None:
        """A callee that only computes: the real value where that is known, else the same one for the same arguments."""
        if pure.value is not None:
            values = pure.value(arguments, lambda address: self._memory.load(address, 1))
        else:
            given = self._inputs.call_results.get(CallKey(pure.name, arguments, None), CallEffect({})).registers
            values = tuple(given.get(r.register, 0) & ((1 << r.bits) - 1) for r in pure.results)
        self._results.append(CallResult(pure.name, arguments, _named(pure.results, values)))
        for (pointer, function), value in zip(pure.stores, values[len(pure.results) :], strict=True):
            self._memory.store(arguments[pointer], stored_size(function), value)
        self._leave_with(pure.results, values[: len(pure.results)])

    def _leave_with(self, results: Sequence[Result], values: Sequence[int]) -> None:
        """What a call leaves behind of which the results are known and everything else is open."""
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
        """The results where their registers are, and all else that the callee leaves in result registers each side's
        own."""
        convention = self._machine.convention
        given = {g.register: g for g in callee.results}
        for number, register in enumerate((*convention.result, *convention.float_result)):
            size = self._machine.registers[register].size
            left = left_in_results(self._inputs.side_seed, len(self._calls), number, size)
            here = given.get(register)
            bits = here.bits if here is not None else 0
            value = results.get(register, 0)
            value = here.as_left(value) if here is not None else value
            self._registers[self._position[register]] = (value & bits) | (left & ~bits & mask(size))

    def _leave_call(self, result: int) -> None:
        """What every call leaves behind."""
        convention = self._machine.convention
        left = self._memory.undefined(self._machine.scratch_bytes)
        for register in convention.scratch_after_call:
            size = self._machine.registers[register].size
            self._registers[self._position[register]] = left & 1 if size == 1 else left & mask(size)
            left >>= 8 * size
        for register in (*convention.result, *convention.float_result):
            self._registers[self._position[register]] = 0
        self._registers[self._position[convention.result[0]]] = result
        if convention.stack_pointer is not None:
            pointer = self._position[convention.stack_pointer]
            self._registers[pointer] += convention.stack_adjustment

    def _system_call(self, name: str) -> None:
        convention = self._machine.convention
        arguments = tuple(self._content(part) & part.reads for part in system_callee(self._machine).parts)
        effect = self._effect_of(system_callee(self._machine), name, arguments)
        self._calls.append(CallRecord(name, arguments, arguments))
        self._results.append(CallResult(name, arguments, tuple(effect.registers.items()), effect.memory))
        first = convention.result[0]
        self._registers[self._position[first]] = effect.registers.get(first, 0)
        for address, byte in effect.memory.items():
            self._memory.store(address, 1, byte)
        for register in convention.scratch_after_system:
            self._registers[self._position[register]] = self._memory.undefined(self._machine.registers[register].size)

    def _effect_of(self, callee: Callee, name: str, arguments: tuple[int, ...], known: int | None = None) -> CallEffect:
        """`known` is what a library function returns unless it fails."""
        number = len(self._calls)
        given = self._inputs.call_results.get(CallKey(name, arguments, number))
        if given is not None:
            return given
        if callee.primary is None:
            return CallEffect({})
        result = mixed_result(self._inputs.call_seed, name, arguments, number + 1) if known is None else known
        return CallEffect({callee.primary.register: result})

    def _content(self, part: Part) -> int:
        if part.register is not None:
            register = self._registers[self._position[part.register]]
            return register >> (8 * part.offset) & mask(part.size)
        pointer = self._machine.convention.stack_pointer
        assert pointer is not None
        return self._memory.load(self._registers[self._position[pointer]] + part.offset, part.size)

    def _finish(self, status: Status, reason: str) -> Outcome:
        target = self._memory.target if status is Status.DONE else 0
        changes = self._outside_frame(self._memory.changes())
        return Outcome(
            status,
            reason,
            dict(zip(self._names, map(int, self._registers), strict=True)),
            RETURN_ADDRESS if target == self._return_address else target,
            changes,
            self._reads(),
            tuple(self._calls),
            tuple(self._results),
            self._blocks.left(changes, self._passed()),
            self._steps,
            tuple(self._trace),
            frozenset(self._memory.stores or ()),
            frozenset(),
            "" if self._memory.outside is None else str(self._program.function.bounds[self._memory.outside]),
            overlaps=self._memory.overlaps,
        )

    def _passed(self) -> set[int]:
        """What outside functions were given."""
        return {argument for call in self._calls for argument in call.arguments}

    def _outside_frame(self, changes: dict[int, int]) -> dict[int, int]:
        if self._machine.convention.stack_pointer is None:
            return changes
        low = self._stack_pointer - FRAME_LIMIT
        above = self._machine.convention.stack_arguments_offset + self._options.stack_argument_bytes
        high = self._stack_pointer + above
        return {address: byte for address, byte in changes.items() if not low <= address < high}

    def _reads(self) -> dict[int, int]:
        if self._memory.recorded is None:
            return {}
        low = self._stack_pointer - FRAME_LIMIT if self._machine.convention.stack_pointer else 0
        high = low + FRAME_LIMIT + self._machine.convention.stack_adjustment if low else 0
        image = self._program.function.image
        return {
            address: self._memory.entry_byte(address)
            for address in sorted(self._memory.recorded)
            if not low <= address < high and image.constant_bytes(address, 1) is None
        }


def _named(results: Sequence[Result], values: Sequence[int]) -> tuple[tuple[str, int], ...]:
    return tuple((result.register, value) for result, value in zip(results, values, strict=False))
