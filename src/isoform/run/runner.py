"""Concrete execution of a compiled function, with fuel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import NamedTuple

from isoform.lift.cfg import SELF
from isoform.lift.function import Block, Call
from isoform.model.callee import NOTHING, Callees
from isoform.model.contract import NoValueError
from isoform.model.microop import ABORT_REASONS
from isoform.model.microop import code as code_address
from isoform.model.outcome import FRAME_LIMIT, NO_BLOCKS, RETURN_ADDRESS, STACK_POINTER, Inputs, Outcome, Status
from isoform.model.values import dataclass
from isoform.run.compile import ABORTED, FIRST_CALL, RETURNED, UNRESOLVED, UNSUPPORTED, Program, program_at
from isoform.run.memory import CodeModifiedError, StackTooSmallError, TooMuchMemoryError
from isoform.run.outside_calls import OutsideCalls, RefusedCallError
from isoform.run.running import AddedStore, Given, RunningMemory, ShowingMemory, ShownValues, WatchedMemory


class Visit(NamedTuple):
    """One block of a run: its program (a run may jump into code that was lifted separately), its number there, and how
    many loads and stores were made before it."""

    program: Program
    number: int
    touched: int

    @property
    def block(self) -> Block:
        return self.program.function.blocks[self.program.ids[self.number]]


@dataclass(frozen=True)
class Traced:
    """A run with its path."""

    outcome: Outcome
    visits: list[Visit]
    targets: list[int]
    """For each visit that completed the block, the address last jumped to, called or returned to."""
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
    """Whether calls through pointers to code that is present are followed; otherwise they decide nothing."""
    note_stores: bool = False


def run(program: Program, inputs: Inputs, options: RunOptions, callees: Callees = lambda name: NOTHING) -> Outcome:
    """Run to the end, a fault, or out of fuel."""
    return _Run(program, inputs, options, callees).outcome()


def run_traced(
    program: Program, inputs: Inputs, options: RunOptions, callees: Callees = lambda name: NOTHING
) -> Traced:
    """The same, with every block of its path."""
    return _Run(program, inputs, options, callees, WatchedMemory).traced()


def run_shown(
    program: Program,
    inputs: Inputs,
    options: RunOptions,
    callees: Callees,
    given: Mapping[int, Given] | None = None,
    dropped: Mapping[int, int] | None = None,
    added: Sequence[AddedStore] = (),
) -> tuple[Outcome, ShownValues]:
    """Run a program that was compiled with sites. `given` replaces the values at some sites. `dropped` are sites of
    stored values, each after the site of its address, with their sizes: such a store leaves memory unchanged. `added`
    are further stores."""
    running = _Run(program, inputs, options, callees, ShowingMemory)
    memory = running._memory
    assert isinstance(memory, ShowingMemory)
    memory.given, memory.dropped, memory.added = given or {}, dropped or {}, added
    return running.outcome(), memory.shown


class _Run:
    def __init__(
        self,
        program: Program,
        inputs: Inputs,
        options: RunOptions,
        callees: Callees,
        kind: type[RunningMemory] = RunningMemory,
    ) -> None:
        self._program = program
        self._inputs = inputs
        self._options = options
        machine = program.function.machine
        self._machine = machine
        self._names = machine.containers
        self._position = machine.container_positions
        pointer, link = machine.convention.stack_pointer, machine.convention.return_address
        self._registers = list(map(inputs.registers.get, self._names, repeat(0)))
        if pointer and pointer not in inputs.registers:
            self._registers[self._position[pointer]] = STACK_POINTER
        for name, value in machine.initial.items():
            self._registers[self._position[name]] = value
        if link is not None and link not in machine.initial:
            self._registers[self._position[link]] = RETURN_ADDRESS
        self._return_address = machine.initial.get(link, RETURN_ADDRESS) if link else RETURN_ADDRESS
        self._stack_pointer = self._registers[self._position[pointer]] if pointer else 0
        self._memory = kind(machine, program.function.image, inputs, self._stack_pointer, program.guarded)
        self._memory.bounds = program.function.bounds
        self._visits: list[Visit] = []
        self._targets: list[int] = []
        self._memory.side_seed = inputs.side_seed
        if options.record_reads:
            self._memory.recorded = set()
        if options.note_stores:
            self._memory.stores = set()
        self._callees = callees
        self._calls: OutsideCalls | None = None
        """None until the first call: most runs make none."""
        self._trace: list[int] = []
        self._steps = 0
        self._led_by_input = False

    @property
    def _outside(self) -> OutsideCalls:
        if self._calls is None:
            function = self._program.function
            self._calls = OutsideCalls(
                function.image,
                function.library,
                self._machine,
                self._registers,
                self._memory,
                self._inputs,
                self._callees,
                self._stack_pointer,
                self._outside_frame,
                function.entry.address,
            )
        return self._calls

    def outcome(self) -> Outcome:
        try:
            status, reason = self._loop()
            self._memory.finish()
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
        assert isinstance(self._memory, WatchedMemory)
        return Traced(outcome, self._visits, self._targets, self._memory.touched, self._memory.where)

    def _loop(self) -> tuple[Status, str]:
        program = self._program
        code, costs = program.code, program.costs
        registers, memory = self._registers, self._memory
        fuel = self._options.fuel
        index = program.index[program.function.entry]
        trace = self._trace if self._options.trace else None
        touched = memory.touched if isinstance(memory, WatchedMemory) else None
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
                        if call.unfolded is not None:
                            continue
                        if call.callee == SELF and call.then is not None:
                            recursions.append((call.then.address, program, index))
                            program = program.deeper or program
                            code = program.code
                            index = program.index[program.function.entry]
                        elif call.callee is None and (present := self._code_called(program)) is not None:
                            entered = self._entered(program, present)
                            if entered is None or call.then is None:
                                return Status.UNSUPPORTED, f"a call through a pointer to {self._name(present)}"
                            program.pieces.note_entered(memory.jump, memory.target)
                            recursions.append((call.then.address, program, index))
                            program, code, costs = entered, entered.code, entered.costs
                            memory.bounds = program.function.bounds
                            index = program.index[program.function.entry]
                        elif self._outside.make(call) or index < 0:
                            return Status.EXITED, call.callee or self._outside.last_name or "a function"
                    elif index == RETURNED and recursions and memory.target == recursions[-1][0]:
                        _, program, index = recursions.pop()
                        code, costs = program.code, program.costs
                        memory.bounds = program.function.bounds
                    elif index in (RETURNED, UNRESOLVED) and memory.target != self._return_address:
                        going_on = program_at(program, memory.target)
                        if going_on is None:
                            return self._elsewhere(index, program, bool(recursions))
                        if index == UNRESOLVED:
                            self._note_jump(program)
                        memory.fetch(going_on.guarded)
                        program, code, costs, index = going_on, going_on.code, going_on.costs, 0
                        memory.bounds = program.function.bounds
                    else:
                        return self._end(index, program)
        finally:
            self._steps = steps

    def _note_jump(self, program: Program) -> None:
        """A computed jump led to code that is not in the function. If an input contains the target, the input is a
        pointer into the function, and the target is not code of the function's own."""
        self._led_by_input = self._led_by_input or self._inputs.holds(self._memory.target)
        if not self._led_by_input:
            program.pieces.note_jump(self._memory.jump, self._memory.target)

    def _code_called(self, program: Program) -> int | None:
        """The address of the code that a call through a pointer goes to, if it is present."""
        image, target = program.function.image, self._memory.target
        address = image.aliases.get(target, target)
        return address if target not in image.externals and image.code_at(address) else None

    def _entered(self, program: Program, address: int) -> Program | None:
        """The function that is called; None if it is not to be followed, or the address is not the start of a
        function."""
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
        back = self._memory.load(self._stack_pointer, 8)
        comes_back = self._program.function.entry  # the continuation does not matter: it is our caller
        call = Call(None, code_address(self._memory.target), comes_back, through=self._memory.through)
        self._outside.make(call)
        self._memory.target = back
        return Status.DONE, ""

    def _finish(self, status: Status, reason: str) -> Outcome:
        target = self._memory.target if status is Status.DONE else 0
        changes = self._outside_frame(self._memory.changes())
        calls = self._calls
        return Outcome(
            status,
            reason,
            dict(zip(self._names, map(int, self._registers), strict=True)),
            RETURN_ADDRESS if target == self._return_address else target,
            changes,
            self._reads(),
            tuple(calls.calls) if calls is not None else (),
            tuple(calls.results) if calls is not None else (),
            calls.blocks.left(changes, calls.passed()) if calls is not None else NO_BLOCKS,
            self._steps,
            tuple(self._trace),
            frozenset(self._memory.stores or ()),
            frozenset(),
            "" if self._memory.outside is None else str(self._memory.outside),
            overlaps=self._memory.overlaps,
        )

    def _outside_frame(self, changes: dict[int, int]) -> dict[int, int]:
        if not changes or self._machine.convention.stack_pointer is None:
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
