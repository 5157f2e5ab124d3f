"""Symbolic execution of a whole function: every block once, in topological order, states merged at joins.

This is seed 002's construction (block formulas with path conditions) through terms instead of named
register versions. A loop is unrolled: the k-th iteration is a further layer of the same
blocks, and what would need more layers than allowed becomes a `Gap`.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

from isoform.lift.cfg import SELF, SYSTEM_CALL
from isoform.lift.function import Block, BlockId, Branch, Call, Function, Goto, Return, Stop, Switch
from isoform.lift.library import MOST_BYTES
from isoform.lift.pointers import stack_loads
from isoform.lift.returning import leaves
from isoform.lift.simplify import overlaps
from isoform.load.objects import PlacedNumber
from isoform.model.allocation import Allocating, AllocationCall
from isoform.model.budget import Budget
from isoform.model.callee import LONGEST_FORMAT, Callee, Callees, Part, Parts, runs
from isoform.model.contract import NoValueError, OutputCall, PureCall, Result, system_callee
from isoform.model.errors import Unsupported
from isoform.model.microop import Kind, code
from isoform.model.verdict import Assumption
from isoform.smt.rules.widths import signed
from isoform.smt.shapes import Choice
from isoform.smt.terms import Term
from isoform.sym.chain import Base, Node
from isoform.sym.frame import SLOT_BYTES
from isoform.sym.libc import LIBRARY_MEANING, carry_out
from isoform.sym.recursion import (
    RECURSION,
    after_deeper_call,
    allowed_at_deeper_call,
    calls_itself,
    compares_calls,
    may_end,
)
from isoform.sym.state import Side, State
from isoform.sym.step import Temps, read, step

MOST_FIXED_TURNS = 4096
"""Iterations of a loop whose exit does not depend on inputs."""

MOST_TARGETS = 64

CALLS_AGREE = Assumption(
    "calls-agree",
    "a function that is called and not here comes back, with the same results for the same arguments and memory, and "
    "takes its arguments where the machine's usual calling convention puts them",
)
SYSTEM_CALLS = Assumption(
    "system-calls-agree",
    "a system call comes back, with the same result for the same arguments and memory, and changes nothing but memory",
)
VARIADIC = Assumption(
    "variadic-arguments",
    "where no format tells them, a variadic function takes arguments in the registers set before each of its calls",
)
CALLEE_FRAME = Assumption("callees-keep-frames", "functions called leave their caller's stack frame alone")


Event = tuple[str, tuple[Term, ...]]
"""What the world outside sees of a call: a name and arguments."""


_WORD = 8
_SIMPLE = (Allocating.GIVES, Allocating.CLEARS, Allocating.TAKES)
_GIVEN = {True: "(block)", False: "(certain block)"}
"""By whether it may fail, the event of an allocation: `calloc` is `malloc` with zeros, and `operator new` never gives
null."""


class GapKind(Enum):
    """Why part of the inputs is not covered by the encoding."""

    LOOP_BOUND = "loops run longer than they were unrolled"
    UNSUPPORTED = "an instruction without semantics is reached"
    UNRESOLVED = "a computed jump goes where isoform did not follow"


@dataclass(frozen=True)
class Gap:
    """Inputs (those that satisfy `condition`) about which the encoding says nothing."""

    kind: GapKind
    condition: Term
    why: str


@dataclass(frozen=True)
class CallSite:
    """One outside call as encoded: for reading a model."""

    condition: Term
    callee: str
    keys: tuple[tuple[Term, tuple[Term, ...]], ...]
    """What the callee is known to read, as a runner notes it: the first of these whose condition holds."""
    results: tuple[tuple[str, Term], ...]
    """Result registers and what they hold: the callee decides the bits that are its result."""
    memory: Term | None = None
    """Memory after it, if it may change."""
    pure: bool = False
    """Whether it only computes: then it is no observable."""


@dataclass(frozen=True)
class Passed:
    """The arguments of one call."""

    callee: Callee
    arguments: tuple[Term, ...]
    """All that the callee may read."""
    places: str
    """Where these are, if another call of the same name may have them elsewhere."""
    keys: tuple[tuple[Term, tuple[Term, ...]], ...]
    on_stack: int = 0
    """Bytes above its return address in which a callee may find arguments."""


@dataclass(frozen=True)
class Ending:
    """The program ended in a call that does not come back."""

    condition: Term
    callee: str
    arguments: tuple[Term, ...]
    heap: Node
    after_calls: bool
    """Whether other outside calls may have been made before."""


@dataclass
class Summary:
    """A function as formulas over the inputs."""

    side: Side
    aborts: Term
    final: State | None = None
    """The state at return, all returns merged; its condition says for which inputs it returns."""
    return_target: Term | None = None
    endings: list[Ending] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    calls: list[CallSite] = field(default_factory=list)
    discovered: dict[int, set[int]] = field(default_factory=dict)
    """Targets of computed jumps, by the instruction's address, that the control-flow graph does not have yet."""
    turns: int = 0
    """Layers that were needed: 0 without loops."""
    recursive: bool = False
    """Whether it calls itself, and what a callee restores is taken to be restored by it."""

    @property
    def returned_to(self) -> Term:
        """Only of one that returns."""
        assert self.return_target is not None
        return self.return_target

    def gap(self) -> Term:
        return self.side.terms.any_of([g.condition for g in self.gaps])


OP_SECONDS = 40e-6
"""What a micro-op is charged: measured on four pairs, 20 to 66 microseconds each."""

_Key = tuple[int, int]
"""Layer and position of a block in the function's order."""


class Execution:
    """Runs one function symbolically to its ends."""

    def __init__(self, side: Side, function: Function, budget: Budget, unroll: int, callees: Callees) -> None:
        self.side = side
        self.terms = side.terms
        self.function = function
        self.budget = budget
        self.unroll = unroll
        self.callees = callees
        self.summary = Summary(side, aborts=side.terms.false, recursive=calls_itself(function))
        self._order = {block: index for index, block in enumerate(function.order)}
        self._waiting: dict[_Key, list[tuple[State, Temps]]] = {}
        self._queue: list[_Key] = []
        self._symbolic_layers = 0
        self._last_condition: Term = side.terms.true
        self._layer = 0

    def run(self) -> Summary:
        self._arrive(self.function.entry, self.side.initial_state(), {}, 0)
        while self._queue:
            if self.budget.exhausted:
                raise Unsupported(f"{self.budget.why_exhausted()} while encoding {self.function.name}")
            key = heapq.heappop(self._queue)
            if key[0] > self._layer:
                self._enter_layer(key[0])
            state, temps = self._merge(self._waiting.pop(key))
            block = self.function.blocks[self.function.order[key[1]]]
            if state.condition != self.terms.false:
                self._block(block, state, temps, key[0])
        return self.summary

    # -- joins ----------------------------------------------------------------------------------

    def _arrive(self, target: BlockId, state: State, temps: Temps, layer: int) -> None:
        if state.condition == self.terms.false:
            return
        key = (layer, self._order[target])
        if key not in self._waiting:
            self._waiting[key] = []
            heapq.heappush(self._queue, key)
        self._waiting[key].append((state, temps))

    def _merge(self, arrivals: list[tuple[State, Temps]]) -> tuple[State, Temps]:
        state, temps = arrivals[0]
        for other, other_temps in arrivals[1:]:
            selector = self.terms.selector(state.condition, other.condition)
            state = _join(selector, state, other)
            temps = _join_temps(self, selector, temps, other_temps)
        return state, temps

    def _enter_layer(self, layer: int) -> None:
        """Count an iteration as symbolic if not all inputs that reach the one before reach it."""
        self._layer = layer
        self.summary.turns = layer
        conditions = [s.condition for key, arrivals in self._waiting.items() if key[0] == layer for s, _ in arrivals]
        if self.terms.any_of(conditions) != self._last_condition:
            self._symbolic_layers += 1
        self._last_condition = self.terms.any_of(conditions)

    # -- blocks ---------------------------------------------------------------------------------

    def _block(self, block: Block, state: State, temps: Temps, layer: int) -> None:
        self.budget.charge(OP_SECONDS * len(block.ops))
        for op, address in zip(block.ops, block.addresses, strict=True):
            if op.kind is Kind.ABORT:
                self._abort(state, read(state, temps, op.ins[0]))
            elif op.kind is Kind.ASSUME:
                inside = self.terms.condition(read(state, temps, op.ins[0]))
                self.side.assume_bound(state.condition, inside, self.function.bounds[op.ins[1].offset].name)
            elif op.kind is Kind.UNSUPPORTED:
                text = f"`{self.function.instructions[address].text}` at {address:#x}"
                stopped = isinstance(block.exit, Stop) and block.exit.why.startswith("a call") and block.exit.why
                plain = f"{text}: {stopped}" if stopped else f"{text}, which has no semantics here"
                why = self.function.refused.get(address, plain)
                self._gap(GapKind.UNSUPPORTED, state, f"{self.function.name} reaches {why}")
                return
            else:
                if op.kind is Kind.STORE:
                    self._guard_code(state, read(state, temps, op.ins[0]), op.ins[1].size)
                step(state, temps, op)
            if state.condition == self.terms.false:
                return
        self._exit(block, state, temps, layer)

    def _abort(self, state: State, flag: Term) -> None:
        condition = self.terms.condition(flag)
        self._note_decision(condition)
        self.summary.aborts = self.terms.disj(self.summary.aborts, self.terms.conj(state.condition, condition))
        state.condition = self.terms.conj(state.condition, self.terms.negate(condition))

    def _gap(self, kind: GapKind, state: State, why: str) -> None:
        self.summary.gaps.append(Gap(kind, state.condition, why))

    def _guard_code(self, state: State, address: Term, size: int) -> None:
        """On a machine whose program can be written, a store that may hit an instruction is a gap."""
        for low, high in self.function.writable_code:
            terms, width = self.terms, self.side.width
            index = terms.sub(address, terms.bv(low - size + 1, width))
            hits = terms.ult(index, terms.bv(high - low + size - 1, width))
            if hits == terms.false:
                continue
            condition = terms.conj(state.condition, hits)
            self.summary.gaps.append(
                Gap(GapKind.UNSUPPORTED, condition, f"{self.function.name} writes to its own code")
            )
            state.condition = terms.conj(state.condition, terms.negate(hits))

    # -- exits ----------------------------------------------------------------------------------

    def _exit(self, block: Block, state: State, temps: Temps, layer: int) -> None:
        terms = self.terms
        match block.exit:
            case Goto(target):
                self._go(block, target, state, temps, layer)
            case Branch(flag, then, otherwise):
                taken, other = self._ways(block, layer, state, terms.condition(read(state, temps, flag)))
                self._go(block, then, state.fork(taken), dict(temps), layer)
                state.condition = other
                self._go(block, otherwise, state, temps, layer)
            case Switch(value, targets, elsewhere):
                self._switch(block, read(state, temps, value), targets, elsewhere, state, temps, layer)
            case Return(value, to):
                self._return(block, read(state, temps, value), to, state, temps, layer)
            case Call() as call:
                self._call(block, call, read(state, temps, call.value), state, temps, layer)
            case Stop(why):
                if state.condition != terms.false:
                    self._gap(GapKind.UNSUPPORTED, state, f"{self.function.name} runs into {why or 'nothing'}")

    def _ways(self, block: Block, layer: int, state: State, condition: Term) -> tuple[Term, Term]:
        """The conditions of taking a branch and of not taking it."""
        terms, context = self.terms, self.side.context
        self._note_decision(condition)
        if context is not None:
            return context.branch(terms, (layer, block.id), state.condition, condition)
        return terms.conj(state.condition, condition), terms.conj(state.condition, terms.negate(condition))

    def _go(self, block: Block, target: BlockId, state: State, temps: Temps, layer: int) -> None:
        if state.condition == self.terms.false:
            return
        if (block.id, target) not in self.function.back_edges:
            self._arrive(target, state, temps, layer)
        elif layer + 1 > MOST_FIXED_TURNS or self._symbolic_layers >= self.unroll:
            self._gap(GapKind.LOOP_BOUND, state, f"{self.function.name} loops back to {target.address:#x}")
        else:
            self._arrive(target, state, temps, layer + 1)

    def _switch(
        self,
        block: Block,
        value: Term,
        targets: tuple[tuple[int, BlockId], ...],
        elsewhere: Call | None,
        state: State,
        temps: Temps,
        layer: int,
    ) -> None:
        terms = self.terms
        self._note_decision(value)
        number = self._in_code(value)
        for address, target in targets:
            here = terms.eq(number, terms.bv(address, terms.width(value)))
            self._go(block, target, state.fork(terms.conj(state.condition, here)), dict(temps), layer)
            state.condition = terms.conj(state.condition, terms.negate(here))
        value = self._without(value, {address for address, _ in targets})
        if elsewhere is not None:
            if state.condition != terms.false:
                self._call(block, elsewhere, value, state, temps, layer)
            return
        state = self._to_caller(value, state)
        if state.condition != terms.false and self._is_tail_call(block, value, state):
            self._tail_call(block, value, state)
        elif state.condition != terms.false:
            where = block.steps[-1] if block.steps else block.id.address
            self._discover(where, value)
            why = f"{self.function.name} jumps to a computed address at {where:#x} that isoform could not resolve"
            self._gap(GapKind.UNRESOLVED, state, why)

    def _without(self, value: Term, excluded: set[int]) -> Term:
        """A choice without the branches that are one of these constants."""
        shape = self.terms.shape(value)
        if not isinstance(shape, Choice):
            return value
        ways = [self._without(way, excluded) for way in shape.branches]
        left = [way for way in ways if self.terms.layout.number(way) not in excluded]
        return left[0] if len(left) == 1 else self.terms.ite(shape.condition, *ways)

    def _in_code(self, value: Term) -> Term:
        """The value of a computed jump as a number, as far as it is made of addresses that code is found by: of
        functions, and in a linked file all, since code is at a fixed distance from the rest of the file."""
        terms, image = self.terms, self.function.image
        shape = terms.shape(value)
        if isinstance(shape, Choice):
            return terms.ite(shape.condition, self._in_code(shape.then), self._in_code(shape.otherwise))
        found = terms.layout.origin(value)
        if found is None or not (found[0].start in image.aliases or found[0].start == image.base):
            return value
        self._refuse_inside(value)
        return terms.add(found[1], terms.bv(found[0].start, terms.width(value)))

    def _refuse_inside(self, value: Term) -> None:
        """Refuse a computed jump or call to an address inside a function of another name: at a distance from its start
        the code of the two sides need not correspond."""
        found = self.terms.layout.origin(value)
        if found is not None and found[0].start in self.function.image.aliases and self.terms.value(found[1]) != 0:
            raise Unsupported(f"{self.function.name} jumps to an address that is counted from the start of a function")

    def _is_tail_call(self, block: Block, value: Term, state: State) -> bool:
        """Whether a jump through a pointer that was passed in or read is a call whose result is ours: with the stack
        as at entry, and to no address of our own code (that would be a jump inside the function)."""
        convention = self.side.world.machine.convention
        if block.id.context or not convention.return_address_on_stack or convention.stack_pointer is None:
            return False
        at_entry = self.side.is_stack_pointer(state.container_named(convention.stack_pointer))
        return at_entry and not self._names_code(value)

    def _names_code(self, value: Term) -> bool:
        """Whether a constant in a term is an address of the image's code."""
        image = self.function.image
        return any(number in image.aliases or image.code_at(number) for number in self.terms.constants_in(value))

    def _tail_call(self, block: Block, value: Term, state: State) -> None:
        name = "through a pointer"
        through = block.exit.through if isinstance(block.exit, Switch) else ""
        passed = self._passed(Call(None, code(0), None, through=through), value, state)
        self._refuse_frame_addresses(name, passed.arguments, state)
        target = state.frame.load(0, self.side.width // 8)
        self._return_from(name, passed, state)
        self._finish(target, state)

    def _to_caller(self, value: Term, state: State) -> State:
        """Jumping to the caller is returning. Where the caller's address is an input, only the value that was
        passed counts as such: elsewhere an equal number is not known to be one."""
        world = self.side.world
        fixed = world.machine.convention.return_address in world.machine.initial
        if not fixed and value != world.return_address:
            return state
        ends = self.terms.eq(value, world.return_address)
        leaving = self.terms.conj(state.condition, ends)
        if leaving != self.terms.false:
            self._finish(value, state.fork(leaving))
            state.condition = self.terms.conj(state.condition, self.terms.negate(ends))
        return state

    def _only_external(self, value: Term) -> str | None:
        """The outside function that a pointer points to, if it can only be that one or null."""
        names, pending = set(), [value]
        while pending:
            term = pending.pop()
            shape = self.terms.shape(term)
            if isinstance(shape, Choice):
                pending += shape.branches
            elif (address := self.terms.layout.number(term)) != 0:
                names.add(self.function.image.externals.get(address) if address is not None else None)
        return names.pop() if len(names) == 1 else None

    def _discover(self, where: int, value: Term) -> None:
        image = self.function.image
        targets = {t for t in self._constants_of(value) if image.code_at(image.aliases.get(t, t))}
        if targets:
            self.summary.discovered.setdefault(where, set()).update(targets)

    def _constants_of(self, value: Term) -> set[int]:
        """The constants among the branches of a choice, at most `MOST_TARGETS`."""
        found: set[int] = set()
        pending = [value]
        while pending and len(found) < MOST_TARGETS:
            term = pending.pop()
            constant = self.terms.layout.number(term)
            if constant is not None:
                found.add(constant)
                continue
            shape = self.terms.shape(term)
            if isinstance(shape, Choice):
                pending += shape.branches
        return found

    def _return(self, block: Block, target: Term, to: BlockId | None, state: State, temps: Temps, layer: int) -> None:
        terms = self.terms
        if to is not None:
            expected = terms.bv(block.id.context[-1], terms.width(target))
            back = state.fork(terms.conj(state.condition, terms.eq(target, expected)))
            state.condition = terms.conj(state.condition, terms.negate(terms.eq(target, expected)))
            if state.condition != terms.false:
                self._gap(GapKind.UNRESOLVED, state, f"a function inlined into {self.function.name} returns elsewhere")
            self._go(block, to, back, temps, layer)
            return
        if self.side.world.machine.convention.return_address in self.side.world.machine.initial:
            # Only one address ends the program; a return elsewhere is a jump that was not followed.
            state = self._to_caller(target, state)
            if state.condition != terms.false:
                self._gap(GapKind.UNRESOLVED, state, f"{self.function.name} returns to a computed address")
            return
        self._finish(target, state)

    def _finish(self, target: Term, state: State) -> None:
        final, returned_to = self.summary.final, self.summary.return_target
        if final is None or returned_to is None:
            self.summary.final, self.summary.return_target = state, target
            return
        selector = self.terms.selector(final.condition, state.condition)
        self.summary.return_target = self.terms.ite(selector, returned_to, target)
        self.summary.final = _join(selector, final, state)

    # -- outside calls --------------------------------------------------------------------------

    def _call(self, block: Block, call: Call, value: Term, state: State, temps: Temps, layer: int) -> None:
        if call.callee is None:
            callee = self._only_external(value)
            if callee is not None:
                is_last = leaves(self.function.image, callee)
                call = replace(call, callee=callee, then=None if is_last else call.then)
                self._abort(state, self.terms.flag(self.terms.eq(value, self.terms.bv(0, self.terms.width(value)))))
        name = call.callee or "through a pointer"
        if call.callee is None:
            self._refuse_inside(value)
            self._discover(block.steps[-1] if block.steps else block.id.address, value)
        passed = self._passed(call, value, state)
        arguments = passed.arguments
        if call.then is None:
            self._give_away(name, arguments, state)
            self.summary.endings.append(Ending(state.condition, name, arguments, state.heap, self._after_calls()))
            return
        if call.carried_out:
            self._leave_carried_out(call.pure, state)
            self._go(block, call.then, state, temps, layer)
            return
        if call.pure is not None and self._only_computes(call.pure, arguments):
            self._compute(call.pure, passed, state)
            self._go(block, call.then, state, temps, layer)
            return
        result = carry_out(state, name, arguments) if passed.callee.is_library and not call.present else None
        if result is not None:
            self._carried_out(result, state)
            self._go(block, call.then, state, temps, layer)
            return
        if call.allocation is not None and self._allocate(call.allocation, passed, state):
            self._go(block, call.then, state, temps, layer)
            return
        self._refuse_frame_addresses(name, arguments, state)
        if call.system:
            self._return_from_system(passed, state)
        elif name == SELF:
            self._return_from_itself(passed, state)
        else:
            self._return_from(name, passed, state, self._text(call.output, state))
        self._go(block, call.then, state, temps, layer)

    def _passed(self, call: Call, value: Term, state: State) -> Passed:
        """What a call passes, after the checks that every call has to stand, a tail call too."""
        if not call.system:
            self._require_convention(call.callee or "through a pointer", state)
        passed = self._arguments(call, value, state)
        for argument in passed.arguments:
            self.side.refuse_open(argument)
        return passed

    def _require_convention(self, name: str, state: State) -> None:
        """A callee may rely on what the convention says of registers at entry: with the direction flag set, `memcpy`
        copies backwards. Where no instruction writes them they are as at entry, and need not be asked for."""
        machine = self.side.world.machine
        for register in self._moved:
            initial = self.terms.bv(machine.initial[register], 8 * machine.registers[register].size)
            if state.container_named(register) != initial:
                raise Unsupported(
                    f"{self.function.name} may call {name} with {register} changed: callees expect it as at entry"
                )

    @cached_property
    def _moved(self) -> list[str]:
        registers = self.side.world.machine.registers
        written = [op.out for block in self.function.blocks.values() for op in block.ops if op.out is not None]
        names = self.side.world.machine.convention.as_at_entry
        return [name for name in names if any(overlaps(out, registers[name]) for out in written)]

    def _distance(self, state: State) -> int:
        """How far from its value at entry the stack pointer is."""
        convention = self.side.world.machine.convention
        assert convention.stack_pointer is not None
        return signed(self.terms.split_sum(state.container_named(convention.stack_pointer))[1], self.side.width)

    def _note_decision(self, condition: Term) -> None:
        """What a function does depends on a condition. (Without recursion nobody asks where its stack is: both sides
        have theirs at the same place.)"""
        self.side.refuse_open(condition)
        if self.side.world.recursive and self.side.mentions_stack(condition):
            self.side.world.note_stack_shown()

    def _after_calls(self) -> bool:
        """Whether an outside call may have been made."""
        return any(not site.pure for site in self.summary.calls)

    def _text(self, output: OutputCall | None, state: State) -> Event | None:
        """What a call writes, if that is a constant: then it is the same event whichever function writes it."""
        if output is None:
            return None
        names = self.side.world.machine.convention.integer_arguments
        words = [state.container_named(name) for name in names]

        def read(address: int) -> int:
            byte = self.side.constant_byte(address)
            if byte is None:
                raise NoValueError
            return byte

        known = tuple(self._known(word) for word in words)
        try:
            text = output.written(known, read)
        except NoValueError:
            return None
        return f"(output) {text.hex()}", () if output.stream is None else (words[output.stream],)

    def _known(self, word: Term) -> int | None:
        if self.terms.layout.counted(word) is None:
            return self.terms.value(word)
        return PlacedNumber(self.terms.layout.number(word) or 0)

    def _refuse_frame_addresses(self, name: str, arguments: tuple[Term, ...], state: State) -> None:
        """An outside function may do anything with an address of the frame, which is not followed."""
        if state.escaped or any(self.side.mentions_stack(a) for a in arguments):
            raise Unsupported(f"{self.function.name} passes an address of its own stack frame to {name}")
        self._give_away(name, arguments, state)

    def _give_away(self, name: str, arguments: tuple[Term, ...], state: State) -> None:
        receiver = "a function called through a pointer" if name == "through a pointer" else name
        why = f"{self.function.name} gives {receiver} functions or constants that differ between the two sides"
        for argument in arguments:
            self.side.give_away(state.condition, argument, why)

    def _arguments(self, call: Call, value: Term, state: State) -> Passed:
        callee = system_callee(self.side.world.machine) if call.system else self.callees(call.callee or call.through)
        if callee.refused:
            raise Unsupported(callee.refused)
        pointer = () if call.callee is not None else (value,)
        choices = self._choices(callee, state)
        arguments = self._all_of_format(choices, state) if callee.format else self._all_of(choices[0][1], state)
        keys = tuple(
            (condition, (*pointer, *(self._bits(p, p.reads, state) for p in parts if p.reads)))
            for condition, parts in choices
        )
        places = "" if call.callee is not None else " ".join(f"{p.register}+{p.offset}" for p in choices[0][1]) + ":"
        ends = (part.offset + part.size for _, parts in choices for part in parts if part.register is None)
        on_stack = max(ends, default=0) - self.side.world.machine.convention.stack_arguments_offset
        return Passed(callee, (*pointer, *arguments), places, keys, max(0, on_stack))

    def _choices(self, callee: Callee, state: State) -> list[tuple[Term, Parts]]:
        """Where the arguments are, by the condition under which they are there; the last one stands for all else."""
        found = []
        if callee.format is not None:
            pointer = self._content(callee.parts[callee.format.argument], state)
            for address in sorted(self._constants_of(pointer)):
                parts = callee.parts_of_call(self._text_at(address))
                if parts is not None:
                    here = self.terms.eq(self._numbered(pointer), self.terms.bv(address, self.terms.width(pointer)))
                    found.append((here, parts))
            if found and self._are_all_constants(pointer, len(found)):
                return [*found[:-1], (self.terms.true, found[-1][1])]
        if callee.vectors:
            self.side.world.assume(VARIADIC)
        if callee.mixed:
            raise Unsupported(callee.mixed)
        if callee.maybe_on_stack:
            self._refuse_stack_arguments(callee, state)
        first = state.container_named(self.side.world.machine.convention.result[0])
        parts = callee.parts_at_most(self.terms.value(self.terms.extract(first, 7, 0)) if callee.vectors else None)
        return [*found, (self.terms.true, parts)]

    def _numbered(self, value: Term) -> Term:
        """A choice between addresses as one between the numbers where isoform placed them, to tell which it is."""
        shape = self.terms.shape(value)
        if isinstance(shape, Choice):
            return self.terms.ite(shape.condition, self._numbered(shape.then), self._numbered(shape.otherwise))
        number = self.terms.layout.number(value)
        return value if number is None else self.terms.bv(number, self.terms.width(value))

    def _are_all_constants(self, value: Term, count: int) -> bool:
        """Whether a value is one of so many constants."""
        leaves: set[Term] = set()
        pending = [value]
        while pending and len(leaves) <= MOST_TARGETS:
            shape = self.terms.shape(top := pending.pop())
            if isinstance(shape, Choice):
                pending += shape.branches
            else:
                leaves.add(top)
        return len(leaves) == count and all(self.terms.layout.number(leaf) is not None for leaf in leaves)

    def _text_at(self, address: int) -> bytes | None:
        found = bytearray()
        while len(found) < LONGEST_FORMAT:
            byte = self.function.image.constant_bytes(address + len(found), 1)
            if byte is None:
                return None
            if byte == b"\0":
                return bytes(found)
            found += byte
        return None

    def _refuse_stack_arguments(self, callee: Callee, state: State) -> None:
        """What lies just above the stack pointer may be further arguments: if all argument registers are used, or if
        nothing reads what was stored there (large structures are passed there whichever registers are free). At a tail
        call that is where our own caller put arguments, which may be passed on as they are or changed."""
        convention = self.side.world.machine.convention
        assert convention.stack_pointer is not None
        base, constant = self.terms.split_sum(state.container_named(convention.stack_pointer))
        offset = signed(constant, self.side.width) + convention.stack_arguments_offset
        known = self.side.is_stack_pointer(base) and not state.frame.is_indexed
        written = state.frame.written_slots() if known else ()
        slot = offset - offset % 8
        if not known:
            is_passed = callee.uses_last_register
        elif offset < 0:
            is_passed = slot in written and (callee.uses_last_register or not self._reads_slot(slot))
            if is_passed and self._is_left_over(state.frame.load(slot, SLOT_BYTES)):
                # A structure may begin with bytes that nobody set: what is above it must be the function's own.
                is_passed = slot + SLOT_BYTES in written and not self._reads_slot(slot + SLOT_BYTES)
        else:
            own = callee.uses_last_register and self.side.world.contract.stack_argument_bytes > 0
            is_passed = own or any(other >= slot for other in written)
        if is_passed:
            raise Unsupported(
                f"{self.function.name} may pass arguments on the stack, and no declaration of the callee tells of them"
            )

    def _is_left_over(self, value: Term) -> bool:
        """Whether a value is what the first result register held at entry, where nothing is passed: clang aligns the
        stack by pushing it."""
        entry = self.side.initial_state()
        return bool(value == entry.container_named(self.side.world.machine.convention.result[0]))

    def _reads_slot(self, slot: int) -> bool:
        return any(start < slot + 8 and slot < end for start, end in self._stack_loads)

    @cached_property
    def _stack_loads(self) -> list[tuple[int, int]]:
        return list(stack_loads(self.function))

    def _all_of(self, parts: Parts, state: State) -> list[Term]:
        return [self._bits(part, part.may, state) for part in parts if part.may]

    def _all_of_format(self, choices: list[tuple[Term, Parts]], state: State) -> list[Term]:
        """What a function with a format may read, in all argument registers and then on the stack: nothing where the
        format asks for nothing, so that calls with different formats are calls of one function."""
        terms = self.terms
        machine = self.side.world.machine
        names = (*machine.convention.integer_arguments, *machine.convention.float_arguments)
        places: dict[tuple[str | None, int], int] = {(name, 0): machine.registers[name].size for name in names}
        for _, parts in choices:
            for part in parts:
                places[part.where] = max(places.get(part.where, 0), part.size)
        found = []
        for where, size in places.items():
            value: Term | None = None
            for condition, parts in reversed(choices):
                here = terms.bv(0, 8 * size)
                for part in (p for p in parts if p.where == where and p.may):
                    here = terms.zext(self._bits(part, part.may, state), 8 * size)
                value = here if value is None else terms.ite(condition, here, value)
            assert value is not None
            found.append(value)
        return found

    def _bits(self, part: Part, bits: int, state: State) -> Term:
        """Some bits of a part, as a number up to the highest of them; the bits in between are 0."""
        terms = self.terms
        value = terms.extract(self._content(part, state), bits.bit_length() - 1, 0)
        if bits & (bits + 1) == 0:
            return value
        pieces = [
            terms.extract(value, high - 1, low) if taken else terms.bv(0, high - low)
            for low, high, taken in runs(bits, bits.bit_length())
        ]
        joined = pieces[0]
        for piece in pieces[1:]:
            joined = terms.concat(piece, joined)
        return joined

    def _content(self, part: Part, state: State) -> Term:
        return self.content(part.register, part.offset, part.size, state)

    def content(self, register: str | None, offset: int, size: int, state: State) -> Term:
        """What a callee finds in a register, or on the stack from its stack pointer at entry on."""
        terms = self.terms
        if register is not None:
            return terms.extract(state.container_named(register), 8 * (offset + size) - 1, 8 * offset)
        convention = self.side.world.machine.convention
        assert convention.stack_pointer is not None
        pointer = state.container_named(convention.stack_pointer)
        return state.load(terms.add(pointer, terms.bv(offset, terms.width(pointer))), size)

    def _return_from(self, name: str, passed: Passed, state: State, event: Event | None = None) -> None:
        """Results and memory after an outside call are functions of its arguments and memory."""
        world = self.side.world
        world.assume(CALLS_AGREE)
        world.assume(CALLEE_FRAME)
        world.note_call(self._distance(state))
        results = (*world.machine.convention.result, *world.machine.convention.float_result)
        self._results_of(name, passed, results, state, event)
        self._leave_callee(state, set(results), passed.on_stack)

    def _return_from_system(self, passed: Passed, state: State) -> None:
        world = self.side.world
        world.assume(SYSTEM_CALLS)
        self._results_of(SYSTEM_CALL, passed, world.machine.convention.result[:1], state)
        for register in world.machine.convention.scratch_after_system:
            self._scratch(register, state)

    def _results_of(
        self, name: str, passed: Passed, registers: tuple[str, ...], state: State, event: Event | None = None
    ) -> None:
        result, memory = self._functions_of(name, passed, state, event)
        for register in registers:
            self._give(register, passed.callee, result, state)
        given = tuple((g.register, state.container_named(g.register)) for g in passed.callee.results if g.bits)
        state.heap = Base(lambda: memory, self.side.constant_byte)
        self.summary.calls.append(CallSite(state.condition, name, passed.keys, given, memory))
        self.side.note_call()

    def _functions_of(
        self, name: str, passed: Passed, state: State, event: Event | None = None
    ) -> tuple[Callable[[str, int], Term], Term]:
        """Results (by name and width) and memory after a call, as functions of its arguments and memory. The memory
        stands for all that the world outside has seen: `event` if there is one, else the callee's name and arguments.
        """
        terms = self.terms
        memory = self.side.heap.array(state.heap)
        domain = [a.sort() for a in passed.arguments] + [memory.sort()]
        name = f"{name} {passed.places}" if passed.places else name
        label = self._label(name, passed.arguments)
        inputs = [*passed.arguments, memory]

        def result(what: str, width: int) -> Term:
            return terms.apply(terms.function_variable(f"{label} {what}", domain, terms.sort(width)), inputs)

        what, seen = event or (name, passed.arguments)
        sorts = [a.sort() for a in seen] + [memory.sort()]
        after = terms.function_variable(f"{self._label(what, seen)} memory", sorts, memory.sort())
        return result, terms.apply(after, [*seen, memory])

    def _label(self, name: str, arguments: tuple[Term, ...]) -> str:
        return f"{name}/{','.join(str(self.terms.width(a)) for a in arguments)}"

    def _return_from_itself(self, passed: Passed, state: State) -> None:
        """The induction hypothesis for the deeper call (`recursion.py`)."""
        terms, world = self.terms, self.side.world
        world.assume(RECURSION)
        world.assume(CALLEE_FRAME)
        world.note_deeper_call(self._distance(state))
        counts = compares_calls(self)
        allowed = allowed_at_deeper_call(self, state)
        outside = terms.conj(state.condition, terms.negate(allowed))
        if outside != terms.false:
            why = f"{self.function.name} calls itself with arguments or memory that the contract does not allow"
            self.summary.gaps.append(Gap(GapKind.UNSUPPORTED, outside, why))
        state.condition = terms.conj(state.condition, allowed)
        result, memory = self._functions_of(SELF, passed, state)
        if may_end(self.function):
            ends = terms.eq(result("ends", 1), terms.bv(1, 1))
            ending = Ending(terms.conj(state.condition, ends), SELF, passed.arguments, state.heap, self._after_calls())
            self.summary.endings.append(ending)
            state.condition = terms.conj(state.condition, terms.negate(ends))
        after_deeper_call(self, result, memory, state)
        if counts:
            self.summary.calls.append(CallSite(state.condition, SELF, passed.keys, ()))
        self.side.note_call()
        results = (*world.machine.convention.result, *world.machine.convention.float_result)
        self._leave_callee(state, set(results), passed.on_stack)

    def _give(self, register: str, callee: Callee, result: Callable[[str, int], Term], state: State) -> None:
        """What a call leaves in a register: its result, and in the other bits an unknown value of each side's own."""
        terms = self.terms
        machine = self.side.world.machine
        width = 8 * machine.registers[register].size
        given = next((g for g in callee.results if g.register == register and g.bits), None)
        if given is None:
            self._scratch(register, state)
            return
        if given.is_space:
            space = state.container_named(machine.convention.integer_arguments[0])
            state.registers[machine.container_positions[register]] = space
            return
        left: Term | None = None
        value: Term | None = None
        for low, high, taken in runs(given.bits, width):
            if taken:
                piece = result(register if not low else f"{register}[{low}]", high - low)
                free = ~given.zeros >> low & ((1 << (high - low)) - 1)
                piece = terms.and_(piece, terms.bv(free, high - low)) if given.zeros else piece
            else:
                left = self.side.undefined(width) if left is None else left
                piece = terms.extract(left, high - 1, low)
            value = piece if value is None else terms.concat(piece, value)
        assert value is not None
        state.registers[machine.container_positions[register]] = value

    # -- memory from the library ----------------------------------------------------------------

    def _allocate(self, function: AllocationCall, passed: Passed, state: State) -> bool:
        """Where a block is depends on its size and on what the allocator did before; memory that is in use stays as it
        is. False: this call is one like any other."""
        side, terms, arguments = self.side, self.terms, passed.arguments
        if any(side.mentions_stack(a) for a in arguments) or function.kind not in _SIMPLE:
            return False
        what, seen = function.name, arguments
        if function.kind is not Allocating.TAKES:
            size = self._size(function, arguments)
            if size is None or len(arguments) > len(function.sizes):
                return False
            what, seen = _GIVEN[function.may_fail], (size,)
        zeros = terms.value(seen[0]) if function.kind is Allocating.CLEARS else 0
        if zeros is None or zeros > MOST_BYTES:
            return False
        before = side.heap.load(state.heap, side.library_state, _WORD)
        label, inputs = self._label(what, seen), [*seen, before]
        domain = [term.sort() for term in inputs]
        after = terms.apply(terms.function_variable(f"{label} next", domain, terms.sort(8 * _WORD)), inputs)
        state.heap = side.heap.store(state.heap, side.library_state, after, _WORD)
        result = side.undefined(side.width)
        if function.kind is Allocating.TAKES:
            side.note_release()
            self._give_back(seen[0], state)
        else:
            place = terms.function_variable(f"{label} block", domain, terms.sort(side.width))
            result = terms.apply(place, inputs)
            side.note_block(state.condition, result, seen[0], not function.may_fail)
            self._clear(result, zeros, state)
        register = side.world.machine.convention.result[0]
        array = side.heap.array(state.heap)
        self.summary.calls.append(CallSite(state.condition, function.name, passed.keys, ((register, result),), array))
        self._leave_with((Result(register, side.width),), (result,), state)
        return True

    def _size(self, function: AllocationCall, arguments: tuple[Term, ...]) -> Term | None:
        """The size of a block; None where it is a product that may not fit a word."""
        sizes = [arguments[place] for place in function.sizes]
        if len(sizes) == 1:
            return sizes[0]
        numbers = [self.terms.value(size) for size in sizes]
        known = [number for number in numbers if number is not None]
        if len(known) == len(numbers) and math.prod(known) < 1 << self.side.width:
            return self.terms.bv(math.prod(known), self.side.width)
        return next((s for s, n in zip(sizes, reversed(numbers), strict=True) if n == 1), None)

    def _give_back(self, address: Term, state: State) -> None:
        """The contents of a block that was given back are not compared: zeros make them equal on both sides."""
        sizes = (self.terms.value(block.size) for block in self.side.blocks if block.address == address)
        size = next(sizes, None)
        if size is not None and size <= MOST_BYTES:
            self._clear(address, size, state)

    def _clear(self, block: Term, size: int, state: State) -> None:
        """Zeros in a block, if there is one."""
        heap, terms = self.side.heap, self.terms
        cleared = state.heap
        for start in range(0, size, _WORD):
            length = min(_WORD, size - start)
            where = terms.add(block, terms.bv(start, self.side.width))
            cleared = heap.store(cleared, where, terms.bv(0, 8 * length), length)
        if cleared is not state.heap:
            missing = terms.eq(block, terms.bv(0, self.side.width))
            state.heap = heap.join(missing, state.heap, cleared)

    # -- calls that only compute ----------------------------------------------------------------

    def _leave_carried_out(self, pure: PureCall | None, state: State) -> None:
        """After the code that stands for a call: its results are where results are."""
        if pure is None or not pure.code:  # a loop (`lift/library.py`)
            self.side.world.assume(LIBRARY_MEANING)
        if pure is None:
            self._carried_out(state.container_named(self.side.world.machine.convention.result[0]), state)
            return
        extract = self.terms.extract
        values = [extract(state.container_named(r.register), r.bits - 1, 0) for r in pure.results]
        self._leave_with(pure.results, values, state)

    def _only_computes(self, pure: PureCall, arguments: tuple[Term, ...]) -> bool:
        return pure.only_if_null is None or self.terms.value(arguments[pure.only_if_null]) == 0

    def _compute(self, pure: PureCall, passed: Passed, state: State) -> None:
        """The results are functions of the arguments, and of memory if the callee reads it. It changes nothing else, so
        that another such call, or none, leaves the same state behind."""
        arguments = passed.arguments
        inputs = list(arguments)
        if pure.reads_memory:
            self._refuse_frame_addresses(pure.name, arguments, state)
            inputs.append(self.side.heap.array(state.heap))
        for pointer, name in pure.stores:
            width = self.terms.width(arguments[0])
            register = self.side.world.machine.convention.float_result[0]
            state.store(arguments[pointer], self._computed(name, register, width, inputs[:1]), width // 8)
        read = inputs[:1] if pure.stores else inputs  # where it stores says nothing about what it gives
        values = [self._computed(pure.name, r.register, r.bits, read) for r in pure.results]
        results = tuple((r.register, value) for r, value in zip(pure.results, values, strict=True))
        self.summary.calls.append(CallSite(state.condition, pure.name, passed.keys, results, pure=True))
        self._leave_with(pure.results, values, state)

    def _computed(self, name: str, register: str, width: int, inputs: list[Term]) -> Term:
        terms = self.terms
        label = f"{name}/{','.join(str(terms.width(i)) for i in inputs if not i.sort().is_array())} {register}"
        if not inputs:
            return terms.variable(label, width)
        function = terms.function_variable(label, [i.sort() for i in inputs], terms.sort(width))
        return terms.apply(function, inputs)

    def _leave_with(self, results: Sequence[Result], values: Sequence[Term], state: State) -> None:
        """What a call leaves behind of which the results are known and everything else is open."""
        machine, terms = self.side.world.machine, self.terms
        registers = (*machine.convention.result, *machine.convention.float_result)
        for register in registers:
            self._scratch(register, state)
        for result, value in zip(results, values, strict=True):
            position = machine.container_positions[result.register]
            whole = state.container(position)
            width = terms.width(whole)
            rest = None if result.bits == width else terms.extract(whole, width - 1, result.bits)
            state.registers[position] = value if rest is None else terms.concat(rest, value)
        self._leave_callee(state, set(registers))

    def _carried_out(self, result: Term, state: State) -> None:
        """After a call whose effect is known: its result, and what every call leaves open."""
        machine = self.side.world.machine
        for register in machine.convention.result:
            self._scratch(register, state)
        state.registers[machine.containers.index(machine.convention.result[0])] = result
        self._leave_callee(state, set(machine.convention.result))

    def _leave_callee(self, state: State, kept: set[str], on_stack: int = 0) -> None:
        """Scratch registers except those `kept` are unknown, the return address is popped, and what lies below it
        belonged to the callee, and so did the arguments `on_stack` above it."""
        terms = self.terms
        machine = self.side.world.machine
        convention = machine.convention
        for register in convention.scratch_after_call:
            if register not in kept:
                self._scratch(register, state)
        if convention.stack_pointer is not None:
            index = machine.containers.index(convention.stack_pointer)
            pointer = state.container(index)
            adjustment = terms.bv(convention.stack_adjustment, terms.width(pointer))
            state.registers[index] = terms.add(pointer, adjustment)
            self._clobber_frame(state.registers[index], state, on_stack)

    def _clobber_frame(self, pointer: Term, state: State, on_stack: int) -> None:
        """Whatever lies below the stack pointer was the callee's to use. Only a tail call gives it more than the frame:
        the return address, to which it returns. A call would have put its own there, a number."""
        base, constant = self.terms.split_sum(pointer)
        if not self.side.is_stack_pointer(base):
            raise Unsupported(f"{self.function.name} makes a call with a stack pointer isoform cannot follow")
        offset, adjustment = signed(constant, self.side.width), self.side.world.machine.convention.stack_adjustment
        is_tail_call = offset == adjustment and self.terms.value(state.frame.load(0, adjustment)) is None
        if offset > 0 and not is_tail_call:
            raise Unsupported(f"{self.function.name} makes a call that writes over its own return address")
        state.frame.clobber_below(min(0, offset + on_stack))

    def _scratch(self, register: str, state: State) -> None:
        machine = self.side.world.machine
        width = 8 * machine.registers[register].size
        value = self.side.undefined(width)
        if width == 8:
            value = self.terms.zext(self.terms.extract(value, 0, 0), 8)
        state.registers[machine.container_positions[register]] = value


def _join(selector: Term, state: State, other: State) -> State:
    """`state` where `selector` holds, else `other`."""
    side, terms = state.side, state.side.terms
    registers = {
        index: terms.ite(selector, state.container(index), other.container(index))
        for index in state.registers.keys() | other.registers.keys()
    }
    return State(
        side,
        registers,
        state.frame.joined(selector, other.frame),
        side.heap.join(selector, state.heap, other.heap),
        terms.disj(state.condition, other.condition),
        state.escaped or other.escaped,
        state.holds_addresses or other.holds_addresses,
    )


def _join_temps(execution: Execution, selector: Term, temps: Temps, other: Temps) -> Temps:
    """A temp that only one of two paths set is not read on the other."""
    terms = execution.terms
    joined = {**temps, **other}
    for number in temps.keys() & other.keys():
        if terms.width(temps[number]) == terms.width(other[number]):
            joined[number] = terms.ite(selector, temps[number], other[number])
    return joined
