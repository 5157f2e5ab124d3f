"""The obligations of a question: one formula for each observable, each to be shown unsatisfiable.

Together they say F = pre ∧ F1 ∧ F2 → post of seed 002: wherever both encodings cover the input, the two
functions end the same way and leave the same observables behind.
"""

from __future__ import annotations

from collections.abc import Iterator

from isoform.model.abi import Abi
from isoform.model.contract import HIDE_MEMORY_AT_END, AbortRule, MemoryRule, Reading, ReturnAs
from isoform.model.values import dataclass
from isoform.smt.floats import with_one_nan
from isoform.smt.terms import Term
from isoform.sym.chain import Node
from isoform.sym.padding import padding_unread, unread_padding
from isoform.sym.summary import Ending, Summary
from isoform.sym.world import World

SOME_ADDRESS = "some_address"
"""The variable for an address at which memories differ."""
BEFORE_FAULT = "calls-before-abort"
POSSIBLE_RESULT = "possible-result"
"""The goal about registers that may be the result or a leftover, if there is no debug information."""


@dataclass(frozen=True)
class Goal:
    """`bad` must be unsatisfiable."""

    name: str
    shows: str
    bad: Term


def goals(world: World, target: Summary, rewrite: Summary, whole: bool = False) -> list[Goal]:
    """`whole`: both summaries are of whole functions from their entry, with everything that they stored."""
    found = _Goals(world, target, rewrite, whole)
    return [*found.all(), *found.met()]


class _Goals:
    def __init__(self, world: World, target: Summary, rewrite: Summary, whole: bool) -> None:
        self._whole = whole
        self._world = world
        self._terms = world.terms
        self._target = target
        self._rewrite = rewrite

    def all(self) -> Iterator[Goal]:
        yield self._aborts()
        if any(side.may_have_called for side in self._sides) and all(side.faults for side in self._sides):
            yield self._calls_before_fault()
        yield from self._endings()
        yield self._returns()
        if self._target.final is None or self._rewrite.final is None:
            return
        yield from self._convention()
        if self._world.contract.return_as is not ReturnAs.VOID and self._world.contract.results:
            yield from self._result()
        if self._world.contract.memory is MemoryRule.COMPARE:
            yield self._memory()
        elif any(not site.pure for side in self._sides for site in side.calls):
            # The effects of calls show in the memory that they left, and nowhere else.
            yield Goal("calls", "the same outside calls are made, with the same memory", self._memory().bad)

    def met(self) -> Iterator[Goal]:
        """After all other goals, which may add to it. If the two sides can reach such things, there is a goal even if
        nothing was met: without it a certificate is not complete."""
        met = [met for summary in self._sides for met in summary.side.differing.met or ()]
        for exact in (True, False):
            bad = self._terms.any_of([m.condition for m in met if m.exact is exact])
            if bad != self._terms.false or (exact and self._can_meet):
                shows = (
                    "nothing is read or given away of functions, data or constants that differ between the two sides"
                )
                yield Goal("same-things" if exact else "same-things-computed", shows, bad)

    @property
    def _can_meet(self) -> bool:
        return any(s.side.differing.met is not None and s.side.image.has_apart for s in self._sides)

    # -- how the functions end ------------------------------------------------------------------

    def _allowed(self, condition: Term) -> Term:
        """Under `--aborts refine` nothing is asked of inputs on which the target aborts."""
        if self._world.contract.aborts is AbortRule.REFINE:
            return self._terms.conj(condition, self._terms.negate(self._target.aborts))
        return condition

    def _aborts(self) -> Goal:
        bad = self._allowed(self._terms.exclusive(self._target.aborts, self._rewrite.aborts))
        return Goal("aborts", "both abort or neither does", bad)

    def _calls_before_fault(self) -> Goal:
        """Calls show in the memory that they left. This is stricter than needed: stores after the last call count here,
        though they are not observed."""
        heaps = [summary.side.heap.array(_heap_at_fault(summary)) for summary in self._sides]
        both = self._terms.conj(self._target.aborts, self._rewrite.aborts)
        bad = self._allowed(self._terms.conj(both, self._arrays_differ(*heaps)))
        return Goal(BEFORE_FAULT, "the same outside calls are made before both abort", bad)

    def _returns(self) -> Goal:
        conditions = [s.final.condition if s.final is not None else self._terms.false for s in self._sides]
        bad = self._allowed(self._terms.exclusive(*conditions))
        return Goal("returns", "both return or neither does", bad)

    @property
    def _sides(self) -> tuple[Summary, Summary]:
        return self._target, self._rewrite

    def _endings(self) -> Iterator[Goal]:
        for callee in sorted({e.callee for s in self._sides for e in s.endings}):
            ended = [self._terms.any_of([e.condition for e in s.endings if e.callee == callee]) for s in self._sides]
            bad = self._allowed(self._terms.exclusive(*ended))
            yield Goal(f"ends-in-{callee}", f"both end in {callee} or neither does", bad)
            shows = f"{callee} is called with the same arguments, and after the same calls"
            yield Goal(f"state-at-{callee}", shows, self._ending_states(callee))

    def _ending_states(self, callee: str) -> Term:
        pairs = [
            (left, right)
            for left in self._target.endings
            for right in self._rewrite.endings
            if left.callee == right.callee == callee
        ]
        return self._terms.any_of([self._ending_difference(left, right) for left, right in pairs])

    def _ending_difference(self, left: Ending, right: Ending) -> Term:
        terms = self._terms
        passed = [[terms.width(a) for a in ending.arguments] for ending in (left, right)]
        differs = [terms.true]
        if passed[0] == passed[1]:
            differs = [terms.negate(terms.eq(a, b)) for a, b in zip(left.arguments, right.arguments, strict=True)]
        # The effects of earlier calls on the outside world show in the memory that they left: equal memory, equal
        # calls.
        if left.callee not in HIDE_MEMORY_AT_END or left.after_calls or right.after_calls:
            differs.append(self._memory_differs(left, right))
        return terms.conj(terms.conj(left.condition, right.condition), terms.any_of(differs))

    def _memory_differs(self, left: Ending, right: Ending) -> Term:
        arrays = [
            summary.side.heap.array(ending.heap) for summary, ending in ((self._target, left), (self._rewrite, right))
        ]
        return self._arrays_differ(*arrays)

    def _arrays_differ(self, left: Term, right: Term) -> Term:
        """Two arrays differ exactly if they differ at some address: name it, so that the model shows it."""
        if left == right:
            return self._terms.false
        where = self._terms.variable(SOME_ADDRESS, self._target.side.width)
        return self._terms.negate(self._terms.eq(self._terms.select(left, where), self._terms.select(right, where)))

    # -- what they leave behind -----------------------------------------------------------------

    def _both_return(self, differs: Term) -> Term:
        assert self._target.final is not None
        assert self._rewrite.final is not None
        both = self._terms.conj(self._target.final.condition, self._rewrite.final.condition)
        return self._terms.conj(both, differs)

    def _convention(self) -> Iterator[Goal]:
        if self._world.contract.abis is not None:
            for summary, abi in zip(self._sides, self._world.contract.abis, strict=True):
                yield self._own_duties(summary, abi)
            return
        convention = self._target.side.machine.convention
        for name in convention.callee_saved:
            yield self._register_goal(name, f"{name}, which a callee must restore, is the same")
        if convention.stack_pointer is not None:
            yield self._register_goal(convention.stack_pointer, "the stack pointer at return is the same")
        if any(s.recursive for s in self._sides):
            restored = "what a callee must restore is restored"
            yield Goal("restored", restored, self._both_return(self._not_restored(self._target)))
        differs = self._terms.negate(self._terms.eq(*(summary.returned_to for summary in self._sides)))
        yield Goal("return-address", "both return to the same address", self._both_return(differs))

    def _not_restored(self, summary: Summary) -> Term:
        """The condition that a side does not restore what it must, compared with its own state at entry. A deeper call
        was assumed to restore these, so this one must too, not only as the other side does."""
        terms, side, final = self._terms, summary.side, summary.final
        assert final is not None
        convention, differs = side.machine.convention, []
        for name in (*convention.callee_saved, *((convention.stack_pointer,) if convention.stack_pointer else ())):
            before = side.entry.register(name)
            if name == convention.stack_pointer:
                before = terms.add(before, terms.bv(convention.stack_adjustment, terms.width(before)))
            differs.append(terms.negate(terms.eq(final.container_named(name), before)))
        differs.append(terms.negate(terms.eq(summary.returned_to, side.entry.return_address)))
        return terms.any_of(differs)

    def _own_duties(self, summary: Summary, abi: Abi) -> Goal:
        """Registers of two different machines are not compared: each side restores its own, and extends its result as
        its own ABI says."""
        terms, final = self._terms, summary.final
        assert final is not None
        broken = [self._not_restored(summary)]
        for result in abi.results[: 1 if abi.extended_bits else 0]:
            whole = terms.extract(final.container_named(result.register), abi.extended_bits - 1, 0)
            low = terms.extract(whole, result.bits - 1, 0)
            extend = terms.sext if abi.extends_sign else terms.zext
            broken.append(terms.negate(terms.eq(whole, extend(low, abi.extended_bits))))
        shows = "what a callee must restore is restored, and its result extended, as its own ABI says"
        return Goal(f"restored-{summary.side.tag}", shows, self._both_return(terms.any_of(broken)))

    def _register_goal(self, name: str, shows: str) -> Goal:
        left, right = (s.final.container_named(name) for s in self._sides if s.final is not None)
        return Goal(name, shows, self._both_return(self._terms.negate(self._terms.eq(left, right))))

    def _result(self) -> Iterator[Goal]:
        contract, terms = self._world.contract, self._terms
        values = [self.result_term(s, s.side.contract.results) for s in self._sides]
        for summary, value in zip(self._sides, values, strict=True):
            assert summary.final is not None
            summary.side.refuse_open(value)
            if self._world.recursive and summary.side.mentions_stack(value):
                self._world.note_stack_shown()
            why = "the address of functions or constants that differ between the two sides is returned"
            if contract.return_as is ReturnAs.VALUE:  # whether it is zero says nothing about what is there
                summary.side.differing.give_away(summary.final.condition, value, why)
        if contract.certain is None:
            yield Goal("return-value", "the return values are the same", self._both_return(self._differs(values)))
            return
        parts = [terms.all_of([self._reads_differ(reading) for reading in part]) for part in contract.certain]
        if parts:
            yield Goal("return-value", "the return values are the same", self._both_return(terms.any_of(parts)))
        differs = self._differs(values)
        if contract.possible:
            differs = terms.any_of([self._reads_differ(reading) for reading in contract.possible])
        yield Goal(POSSIBLE_RESULT, "what may be the result is the same", self._both_return(differs))

    def _reads_differ(self, reading: Reading) -> Term:
        return self._differs([self.result_term(s, reading) for s in self._sides])

    def _differs(self, values: list[Term]) -> Term:
        terms = self._terms
        if self._world.contract.return_as is ReturnAs.BOOL:
            return terms.exclusive(*(terms.eq(v, terms.bv(0, terms.width(v))) for v in values))
        return terms.negate(terms.eq(*values))

    def result_term(self, summary: Summary, results: Reading) -> Term:
        assert summary.final is not None
        terms = self._terms
        value: Term | None = None
        for result in results:
            register = summary.final.container_named(result.register)
            part = terms.extract(register, 8 * result.offset + result.bits - 1, 8 * result.offset)
            if result.is_float:
                part = with_one_nan(terms, part)
            if result.is_float and self._world.contract.return_as is ReturnAs.BOOL:
                part = terms.extract(part, result.bits - 2, 0)  # -0.0 compares equal to 0
            value = part if value is None else terms.concat(part, value)
        assert value is not None
        return value

    def _without_padding(self, left: Term, right: Term) -> Term:
        """The difference of two memories, except for padding that nothing reads."""
        differs = self._arrays_differ(left, right)
        if not self._whole or not self._world.contract.padded or differs == self._terms.false:
            return differs
        if self._world.recursive:
            return differs  # the caller of a deeper call is the function itself, which may read padding
        where = self._terms.variable(SOME_ADDRESS, self._target.side.width)
        bits = self._terms.xor_(self._terms.select(left, where), self._terms.select(right, where))
        unread, used = unread_padding([self._target.side, self._rewrite.side], where, bits)
        if used:
            self._world.assume(padding_unread(used))
        return self._terms.conj(differs, self._terms.negate(unread))

    def _is_in_a_local(self) -> Term:
        """Whether the address at which memories differ is in a variable of a frame, which no longer exists."""
        terms, width = self._terms, self._target.side.width
        given = [one for s in self._sides if s.side.locals is not None for one in s.side.locals.given.values()]
        if not given:
            return terms.false
        where = terms.variable(SOME_ADDRESS, width)
        inside = {terms.ult(terms.sub(where, one.address), terms.bv(one.size, width)): None for one in given}
        return terms.any_of([*inside])

    def _memory(self) -> Goal:
        arrays = [s.side.heap.array(s.final.heap) for s in self._sides if s.final is not None]
        differs = self._terms.conj(self._without_padding(*arrays), self._terms.negate(self._is_in_a_local()))
        bad = self._both_return(differs)
        return Goal("memory", "memory outside the frames is left the same", bad)


def _heap_at_fault(summary: Summary) -> Node:
    """Memory where the function aborts: at the place whose condition holds."""
    first, *others = summary.faults
    heap = first.heap
    for fault in others:
        heap = summary.side.heap.join(fault.condition, fault.heap, heap)
    return heap
