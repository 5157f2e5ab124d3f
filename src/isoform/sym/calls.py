"""Calls to code that is not present, executed on a symbolic state.

Results and memory after such a call are functions of its arguments and memory, unless more is known about the callee.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from isoform.lift.cfg import SELF, SYSTEM_CALL
from isoform.lift.function import Block, BlockId, Call, Switch, Unfolded
from isoform.lift.known_calls import with_meaning
from isoform.lift.returning import leaves
from isoform.load.objects import PlacedNumber
from isoform.model.contract import HIDE_MEMORY_AT_END, NoValueError, OutputCall, PureCall
from isoform.model.errors import Unsupported
from isoform.model.microop import code
from isoform.model.verdict import CALLS_AGREE, Assumption
from isoform.smt.terms import Term
from isoform.sym.after_call import AfterCall
from isoform.sym.allocation import Allocations
from isoform.sym.arguments import THROUGH_POINTER, Arguments, Passed, label
from isoform.sym.chain import Base
from isoform.sym.choices import only_external
from isoform.sym.given import NotALocalError
from isoform.sym.giving import end_before_call, given_away
from isoform.sym.jumps import discover, refuse_inside
from isoform.sym.libc import LIBRARY_MEANING, carry_out, compared, comparison, returned
from isoform.sym.recursion import (
    RECURSION,
    after_deeper_call,
    after_other_side,
    allowed_at_deeper_call,
    compares_calls,
    may_end,
)
from isoform.sym.scope import Scope
from isoform.sym.state import State
from isoform.sym.summary import CallSite, Ending, GapKind

IDEMPOTENT = "idempotent"
"""The label of what is assumed of functions named by `--idempotent`."""
COMPARISON = "comparison"
"""The label of what is assumed of `memcmp` and `bcmp`."""
SYSTEM_CALLS = Assumption(
    "system-calls-agree",
    "a system call returns, gives the same result for the same arguments and memory, and changes nothing but memory",
)
CALLEE_FRAME = Assumption("callees-keep-frames", "functions called leave their caller's stack frame alone")

Event = tuple[str, tuple[Term, ...]]
"""What the world outside sees of a call: a name and arguments."""


class Calls:
    """Executes the calls of one function."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._side = scope.side
        self._terms = scope.terms
        self._function = scope.function
        self._arguments = Arguments(scope)
        self._after = AfterCall(scope)
        self._allocations = Allocations(scope, self._after)

    def tail_call(self, block: Block, value: Term, state: State) -> Term:
        """A call through a pointer whose result is ours. Returns the address that it returns to."""
        through = block.exit.through if isinstance(block.exit, Switch) else ""
        passed = self._arguments.passed(block, Call(None, code(0), None, through=through), value, state)
        passed = self._as_given(THROUGH_POINTER, passed, state)
        target = state.frame.load(0, self._side.width // 8)
        self._return_from(THROUGH_POINTER, passed, state)
        return target

    def call(self, block: Block, call: Call, value: Term, state: State) -> BlockId | None:
        """The call that ends a block. Returns where execution continues, None if it does not."""
        if call.unfolded is not None:
            self._unfold(block, call, call.unfolded, value, state)
            return call.then
        if call.callee is None:
            call = self._resolved(call, value, state)
        if call.callee is None:
            refuse_inside(self._scope, value)
            discover(self._scope, block, value)
            is_null = self._terms.eq(value, self._terms.bv(0, self._terms.width(value)))
            self._side.likely.append((state.condition, self._terms.negate(is_null)))
        passed = self._arguments.passed(block, call, value, state)
        if call.then is None:
            name = _name(call)
            passed = self._as_given(name, passed, state)
            self._end_in(name, passed.arguments, state.condition, state)
        elif not self._is_known(call, passed, state):
            self._return_from_unknown(call, passed, state)
        return call.then

    def _resolved(self, call: Call, value: Term, state: State) -> Call:
        """A call through a pointer that can only be to one outside function, or a fault if the pointer is null."""
        image = self._function.image
        callee = only_external(self._terms, image, value)
        if callee is None:
            return call
        self._scope.abort(state, self._terms.eq(value, self._terms.bv(0, self._terms.width(value))))
        found = replace(call, callee=callee, then=None if leaves(image, callee) else call.then)
        known = next((one for one in self._function.library if one.name == callee), None)
        return found if known is None or found.then is None else with_meaning(found, known)

    def _end_in(self, name: str, arguments: tuple[Term, ...], condition: Term, state: State) -> None:
        """A call does not return, under a condition."""
        summary = self._scope.summary
        summary.endings.append(Ending(condition, name, arguments, state.heap, summary.may_have_called))

    def _is_known(self, call: Call, passed: Passed, state: State) -> bool:
        """Execute the call if its effect is known."""
        if call.carried_out:
            self._leave_carried_out(call.pure, state)
            return True
        is_library = passed.callee.is_library and not call.present
        if call.pure is not None and self._only_computes(call.pure, passed.arguments):
            self._compute(call.pure, passed, state, is_library)
            return True
        result = carry_out(state, _name(call), passed.arguments) if is_library else None
        if result is not None:
            self._after.carried_out(result, state)
            return True
        return call.allocation is not None and self._allocations.allocate(call.allocation, passed, state)

    def _return_from_unknown(self, call: Call, passed: Passed, state: State) -> None:
        name, called_with = _name(call), passed.arguments
        passed = self._as_given(name, passed, state)
        if call.system:
            self._return_from_system(passed, state)
        elif name == SELF:
            self._return_from_itself(passed, state)
        else:
            self._return_from(name, passed, state, self._text(call.output, state))
            known = returned(name, called_with) if passed.callee.is_library and not call.present else None
            if known is not None and not self._side.mentions_stack(known):
                self._side.world.assume(LIBRARY_MEANING)
                state.registers[self._side.machine.container_positions[self._side.machine.convention.result[0]]] = known

    def _text(self, output: OutputCall | None, state: State) -> Event | None:
        """What a call writes, if that is a constant: it is then the same event whichever function writes it."""
        if output is None:
            return None
        names = self._side.machine.convention.integer_arguments
        words = [state.container_named(name) for name in names]

        def read(address: int) -> int:
            byte = self._side.constant_byte(address)
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
        if self._terms.layout.counted(word) is None:
            return self._terms.value(word)
        return PlacedNumber(self._terms.layout.number(word) or 0)

    def _as_given(self, name: str, passed: Passed, state: State) -> Passed:
        """What a call passes, as an outside function sees it: variables of the frame that it gets an address of are in
        memory from here on. With any other address of the frame it may do anything, which is not tracked."""
        refused = f"{self._function.name} passes an address of its own stack frame to {name}"
        if state.escaped and name not in HIDE_MEMORY_AT_END:
            raise Unsupported(refused)
        if any(self._side.mentions_stack(argument) for argument in passed.arguments):
            if name == SELF:
                raise Unsupported(refused)
            try:
                # Arguments on the stack may have been pushed.
                pushed = 0 if name == SYSTEM_CALL else self._side.machine.convention.stack_adjustment
                arguments = tuple(
                    given_away(state, argument, None if passed.on_stack else pushed) for argument in passed.arguments
                )
            except NotALocalError as error:
                raise Unsupported(f"{refused}: {error}") from error
            passed = replace(passed, arguments=arguments)
        if state.given and name != SYSTEM_CALL:
            end_before_call(state)
        self._give_away(name, passed.arguments, state)
        return passed

    def _give_away(self, name: str, arguments: tuple[Term, ...], state: State) -> None:
        receiver = "a function called through a pointer" if name == THROUGH_POINTER else name
        why = f"{self._function.name} gives {receiver} functions or constants that differ between the two sides"
        for argument in arguments:
            self._side.differing.give_away(state.condition, argument, why)

    def _return_from(self, name: str, passed: Passed, state: State, event: Event | None = None) -> None:
        """Results and memory after an outside call are functions of its arguments and memory."""
        world = self._side.world
        world.assume(CALLS_AGREE)
        world.assume(CALLEE_FRAME)
        convention = self._side.machine.convention
        world.note_call(self._scope.stack_distance(state), convention.stack_alignment)
        results = (*convention.result, *convention.float_result)
        self._results_of(name, passed, results, state, event)
        self._after.leave_callee(state, set(results), passed.on_stack)

    def _return_from_system(self, passed: Passed, state: State) -> None:
        convention = self._side.machine.convention
        self._side.world.assume(SYSTEM_CALLS)
        self._results_of(SYSTEM_CALL, passed, convention.result[:1], state)
        for register in convention.scratch_after_system:
            self._after.scratch(register, state)

    def _results_of(
        self, name: str, passed: Passed, registers: tuple[str, ...], state: State, event: Event | None = None
    ) -> None:
        found = self._side.heap.array(state.heap)
        result, memory = self._functions_of(name, passed, found, event)
        asked: dict[tuple[str, int], None] = {}

        def noted(what: str, width: int) -> Term:
            asked[what, width] = None
            return result(what, width)

        for register in registers:
            self._after.give(register, passed.callee, noted, state)
        if passed.callee.is_idempotent and event is None:
            self._assume_idempotent(name, passed, found, tuple(asked))
        given = tuple((g.register, state.container_named(g.register)) for g in passed.callee.results if g.bits)
        state.heap = Base(lambda: memory, self._side.constant_byte)
        self._scope.summary.calls.append(CallSite(state.condition, name, passed.keys, given, memory))
        self._side.note_call()

    def _assume_idempotent(self, name: str, passed: Passed, found: Term, results: tuple[tuple[str, int], ...]) -> None:
        """The same call again, on the memory that this one leaves, gives the same results and leaves it so. That is
        assumed of all calls; this is the instance for this one, and the only one that its repetition needs."""
        terms = self._terms
        once, after = self._functions_of(name, passed, found)
        again, left = self._functions_of(name, passed, after)
        same = [terms.eq(once(what, width), again(what, width)) for what, width in results]
        rule = terms.all_of([terms.eq(after, left), *same])
        known = [term for label_, term in self._side.world.constraints if label_ == IDEMPOTENT]
        if rule not in known:
            self._side.world.constraints.append((IDEMPOTENT, rule))

    def _functions_of(
        self, name: str, passed: Passed, memory: Term, event: Event | None = None
    ) -> tuple[Callable[[str, int], Term], Term]:
        """Results (by name and width) and memory after a call, as functions of its arguments and of memory before it.
        The memory stands for everything that the outside world has seen: `event` if there is one, else the callee's
        name and arguments."""
        terms = self._terms
        domain = [a.sort() for a in passed.arguments] + [memory.sort()]
        name = f"{name} {passed.places}" if passed.places else name
        labelled = label(terms, name, passed.arguments)
        inputs = [*passed.arguments, memory]

        def result(what: str, width: int) -> Term:
            return terms.apply(terms.function_variable(f"{labelled} {what}", domain, terms.sort(width)), inputs)

        what, seen = event or (name, passed.arguments)
        sorts = [a.sort() for a in seen] + [memory.sort()]
        after = terms.function_variable(f"{label(terms, what, seen)} memory", sorts, memory.sort())
        return result, terms.apply(after, [*seen, memory])

    def _return_from_itself(self, passed: Passed, state: State) -> None:
        """The induction hypothesis for the deeper call (`recursion.py`)."""
        terms, convention = self._terms, self._side.machine.convention
        counts = self._require_hypothesis(state)
        result, memory = self._functions_of(SELF, passed, self._side.heap.array(state.heap))
        if may_end(self._function):
            ends = terms.eq(result("ends", 1), terms.bv(1, 1))
            self._end_in(SELF, passed.arguments, terms.conj(state.condition, ends), state)
            state.condition = terms.conj(state.condition, terms.negate(ends))
        after_deeper_call(result, memory, state)
        if counts:
            self._scope.summary.calls.append(CallSite(state.condition, SELF, passed.keys, ()))
        self._side.note_call()
        results = (*convention.result, *convention.float_result)
        self._after.leave_callee(state, set(results), passed.on_stack)

    def _require_hypothesis(self, state: State) -> bool:
        """What the induction hypothesis requires of a deeper call. Returns whether the call is an observable."""
        terms, world, convention = self._terms, self._side.world, self._side.machine.convention
        world.assume(RECURSION)
        world.assume(CALLEE_FRAME)
        world.note_deeper_call(self._scope.stack_distance(state), convention.stack_alignment)
        counts = compares_calls(self._side, self._function)
        allowed = allowed_at_deeper_call(state)
        outside = terms.conj(state.condition, terms.negate(allowed))
        if outside != terms.false:
            why = f"{self._function.name} calls itself with arguments or memory that the contract does not allow"
            self._scope.gap(GapKind.UNSUPPORTED, outside, why)
        state.condition = terms.conj(state.condition, allowed)
        return counts

    def _unfold(self, block: Block, call: Call, end: Unfolded, value: Term, state: State) -> None:
        """An end of the code in the place of a deeper call."""
        if end is Unfolded.ENTERED:
            passed = self._arguments.passed(block, call, value, state)
            self._as_given(SELF, passed, state)
            self._require_hypothesis(state)
            return
        convention, contract = self._side.machine.convention, self._side.contract
        if end is Unfolded.LEFT:
            after_other_side(state)
        kept = {*convention.result, *convention.float_result}
        self._after.has_returned(state, kept, contract.stack_argument_bytes)

    def _leave_carried_out(self, pure: PureCall | None, state: State) -> None:
        """After the code that stands for a call: its results are already in place."""
        if pure is None or not pure.code:  # a loop (`lift/library.py`)
            self._side.world.assume(LIBRARY_MEANING)
        if pure is None:
            self._after.carried_out(state.container_named(self._side.machine.convention.result[0]), state)
            return
        extract = self._terms.extract
        values = [extract(state.container_named(r.register), r.bits - 1, 0) for r in pure.results]
        self._after.leave_with(pure.results, values, state)

    def _only_computes(self, pure: PureCall, arguments: tuple[Term, ...]) -> bool:
        return pure.only_if_null is None or self._terms.value(arguments[pure.only_if_null]) == 0

    def _compute(self, pure: PureCall, passed: Passed, state: State, means_library: bool) -> None:
        """The results are functions of the arguments, and of memory if the callee reads it. It changes nothing else, so
        that another such call, or none, leaves the same state behind."""
        arguments = passed.arguments
        inputs = list(arguments)
        blocks = compared(state, pure.name, arguments) if means_library and len(pure.results) == 1 else None
        if blocks is not None:
            # The number depends on the contents and on the addresses, but not on where in the frame a local is.
            inputs = [a for a in arguments if not self._side.mentions_stack(a)]
            inputs = [*inputs, *blocks]
        elif pure.reads_memory:
            inputs = list(self._as_given(pure.name, passed, state).arguments)
            inputs.append(self._side.heap.array(state.heap))
        for pointer, name in pure.stores:
            width = self._terms.width(arguments[0])
            register = self._side.machine.convention.float_result[0]
            state.store(arguments[pointer], self._computed(name, register, width, inputs[:1]), width // 8)
        read = inputs[:1] if pure.stores else inputs  # the place of the result says nothing about its value
        name = pure.name if blocks is None else f"{pure.name} ({len(inputs)}) of {self._terms.width(blocks[0]) // 8}"
        values = [self._computed(name, r.register, r.bits, read) for r in pure.results]
        if blocks is not None:
            self._side.world.assume(LIBRARY_MEANING)
            rule = comparison(state, pure.name, blocks, values[0])
            if rule != self._terms.true:
                self._side.world.constraints.append((COMPARISON, rule))
        results = tuple((r.register, value) for r, value in zip(pure.results, values, strict=True))
        self._scope.summary.calls.append(CallSite(state.condition, pure.name, passed.keys, results, pure=True))
        self._after.leave_with(pure.results, values, state)

    def _computed(self, name: str, register: str, width: int, inputs: list[Term]) -> Term:
        terms = self._terms
        values = tuple(i for i in inputs if not i.sort().is_array())
        labelled = f"{label(terms, name, values)} computes {register}"
        if not inputs:
            return terms.variable(labelled, width)
        function = terms.function_variable(labelled, [i.sort() for i in inputs], terms.sort(width))
        return terms.apply(function, inputs)


def _name(call: Call) -> str:
    return call.callee or THROUGH_POINTER
