"""One symbolic pass over exactly the blocks that a run went through (seed 000, sections 4.1 and 4.2).

The run decides where to go; the pass collects the conditions of going there. Constants fold as terms are built, so
conditions that no input decides never show up, and terms are in single-assignment form by nature.
"""

from __future__ import annotations

from dataclasses import replace

from isoform.engines.concolic.path import COMPLETE, ELSEWHERE, Decision, DecisionKind, End, Key, Path, Snapshot
from isoform.engines.concolic.targets import Targets
from isoform.lift.cfg import SELF
from isoform.lift.function import Block, BlockId, Branch, Call, Function, Goto, Return, Stop, Switch
from isoform.model.budget import Budget
from isoform.model.callee import Callees
from isoform.model.contract import BoundsRule
from isoform.model.errors import Unsupported
from isoform.model.microop import Kind, MicroOp
from isoform.model.outcome import FRAME_LIMIT, STACK_POINTER, Status
from isoform.run.runner import Traced
from isoform.smt.shapes import Choice, Negation
from isoform.smt.terms import Term
from isoform.sym.chain import Base
from isoform.sym.execute import OP_SECONDS, Execution, Summary
from isoform.sym.state import Side, State
from isoform.sym.step import Temps, read, step
from isoform.sym.validity import HIGHEST_ADDRESS, LOWEST_ADDRESS


class _EndOfPathError(Exception):
    """The walk is over; the path says how it ended."""


class Walker(Execution):
    """Walks the runs of one function. Calls, returns and their effects are those of the whole-function execution."""

    def __init__(
        self, side: Side, function: Function, budget: Budget, callees: Callees, depth: int, targets: Targets
    ) -> None:
        super().__init__(side, function, budget, 0, callees)
        self._depth = depth
        self._targets = targets
        layout = side.world.machine.memory
        self._any_address = layout is not None and layout.size is None
        """Whether addresses need to be ones that programs may use."""
        self._fixed_caller = side.world.machine.convention.return_address in side.world.machine.initial
        self._decided: dict[Term, Key] = {}

    def walk(self, traced: Traced, resume: Snapshot | None = None) -> Path:
        """The path of a run; from `resume` on if it went the same way until there."""
        path, state, temps = self._begin(traced) if resume is None else self._resume(traced, resume)
        self.path = path
        self.summary = path.summary
        start = (0, 0, 0) if resume is None else (resume.visit, resume.number, resume.memory)
        try:
            self._follow(*start, state, temps)
        except _EndOfPathError:
            pass
        except Unsupported as reason:
            path.end, path.why = End.LOST, str(reason)
        if path.end in COMPLETE:
            self._check_code()
        path.last = self._snapshot()
        path.condition = self._state.condition
        path.free_condition = self.terms.all_of([d.edge for d in path.decisions if d.kind is not DecisionKind.VALID])
        self._settle(path.summary)
        return path

    def _settle(self, summary: Summary) -> None:
        """What the summary says holds on this path; the path's condition stands apart from it."""
        terms = self.terms
        if summary.final is not None:
            summary.final = summary.final.fork(terms.true)
        if summary.aborts != terms.false:
            summary.aborts = terms.true
        summary.endings = [replace(ending, condition=terms.true) for ending in summary.endings]

    def _begin(self, traced: Traced) -> tuple[Path, State, Temps]:
        self._decided = {}
        self.side.rewind((0, 0))
        path = Path(traced, Summary(self.side, aborts=self.terms.false))
        return path, self.side.initial_state(), {}

    def _resume(self, traced: Traced, old: Snapshot) -> tuple[Path, State, Temps]:
        before = old.path
        decisions = []
        self._decided = {}
        for decision in before.decisions:
            if decision.before is old:
                break
            decisions.append(decision)
            self._note(decision.term, decision.key)
        self.side.rewind(old.unknowns)
        summary = Summary(self.side, aborts=self.terms.false, calls=before.calls[: old.calls])
        path = Path(
            traced,
            summary,
            decisions,
            loads=before.loads[: old.loads],
            stores=before.stores[: old.stores],
            pointers=before.pointers[: old.pointers],
            kept=before.kept[: old.kept],
        )
        return path, old.state.fork(old.state.condition), dict(old.temps)

    # -- the way --------------------------------------------------------------------------------

    def _follow(self, position: int, number: int, memory: int, state: State, temps: Temps) -> None:
        traced = self.path.traced
        self._state, self._temps = state, temps
        self._position, self._number, self._memory = position, number, memory
        self._programs = list(dict.fromkeys(visit.program for visit in traced.visits[: position + 1]))
        while position < len(traced.visits):
            if position % 256 == 0:
                self.budget.require(f"following a run of {self.function.name}")
            visit = traced.visits[position]
            if visit.program not in self._programs:
                self._programs.append(visit.program)
            if number == 0:
                memory = visit.touched
            self._position = position
            self._memory = memory
            block = visit.block
            self.budget.charge(OP_SECONDS * len(block.ops))
            for index in range(number, len(block.ops)):
                self._number = index
                self._carry_out(block, block.ops[index])
            number = 0
            self._number = len(block.ops)
            if position >= len(traced.targets):
                break
            self._leave(block, traced.targets[position], position + 1 < len(traced.visits))
            position += 1
        if traced.outcome.status is Status.OUT_OF_FUEL:
            self._end_as(End.FUEL)
        self._end_as(End.LOST, traced.outcome.reason or traced.outcome.status.value)

    def _end_as(self, end: End, why: str = "") -> None:
        self.path.end = end
        self.path.why = self.path.why or why
        raise _EndOfPathError

    @property
    def _is_last(self) -> bool:
        return self._position + 1 == len(self.path.traced.visits)

    def _carry_out(self, block: Block, op: MicroOp) -> None:
        state, temps = self._state, self._temps
        kind = op.kind
        if kind is Kind.ABORT:
            fired = self._is_last and self.path.traced.abort == self._number
            self._decide(DecisionKind.FAULT, self.terms.condition(read(state, temps, op.ins[0])), fired)
            if fired:
                self._abort_here()
            return
        if kind is Kind.ASSUME:
            self._stay_inside(op)
            return
        if kind is Kind.UNSUPPORTED:
            self._end_as(End.LOST, self.path.traced.outcome.reason or "an instruction without semantics")
        if kind is Kind.LOAD or kind is Kind.STORE:
            size = op.out.size if op.out is not None else op.ins[1].size
            self._access(read(state, temps, op.ins[0]), size, kind is Kind.STORE)
        step(state, temps, op)

    def _abort_here(self) -> None:
        self.summary.aborts = self._state.condition
        self._end_as(End.ABORTED)

    # -- decisions ------------------------------------------------------------------------------

    def _decide(self, kind: DecisionKind, condition: Term, key: bool) -> None:
        """Note that the run went the way `key` at a condition, unless that was clear before."""
        terms = self.terms
        if condition in (terms.true, terms.false):
            if (condition == terms.true) != key:
                self._end_as(End.LOST, "the run and its formulas disagree")
            return
        shape = terms.shape(condition)
        if isinstance(shape, Negation):
            condition, key = shape.inner, not key
        self._take(kind, condition, key, condition if key else terms.negate(condition))

    def _take(self, kind: DecisionKind, term: Term, key: Key, edge: Term) -> None:
        if term in self._decided:
            if self._decided[term] != key:
                self._end_as(End.LOST, "the run and its formulas disagree")
            return
        if kind is not DecisionKind.VALID and self.path.depth >= self._depth:
            self._end_as(End.DEPTH)
        state = self._state
        path = self.path
        visit = path.traced.visits[self._position]
        block = visit.block
        address = block.addresses[self._number] if self._number < len(block.ops) else _last_address(block)
        before = self._snapshot()
        path.decisions.append(Decision(kind, term, key, edge, address, before))
        self._note(term, key)
        state.condition = self.terms.conj(state.condition, edge)

    def _snapshot(self) -> Snapshot:
        path, state = self.path, self._state
        return Snapshot(
            path,
            state.fork(state.condition),
            dict(self._temps),
            self._position,
            self._number,
            self._memory,
            self.side.mark(),
            len(path.loads),
            len(path.stores),
            len(path.calls),
            len(path.pointers),
            len(path.kept),
        )

    def _note(self, term: Term, key: Key) -> None:
        if key != ELSEWHERE:
            self._decided[term] = key

    # -- memory ---------------------------------------------------------------------------------

    def _access(self, address: Term, size: int, is_store: bool) -> None:
        """What there is to decide about an access before it is made."""
        traced = self.path.traced
        where = traced.touched[self._memory] if self._memory < len(traced.touched) else None
        base, _ = self.terms.split_sum(address)
        if self.terms.layout.placed(address, size) is not None:
            base = None  # it is in an object, wherever that is
        if is_store:
            stopped = self._position >= len(traced.targets) and self._memory + 1 >= len(traced.touched)
            self._spare_code(address, size, stopped)
        if where is not None and base is not None and self._any_address and not self.side.is_stack_pointer(base):
            self._stay_valid(address, base, where, size)
        elif not is_store and (base is None or not self.side.is_stack_pointer(base)):
            self.path.loads.append((address, size))
        self._memory += 1

    def _stay_valid(self, address: Term, base: Term, where: int, size: int) -> None:
        terms, side = self.terms, self.side
        if not side.mentions_stack(base):
            self.path.loads.append((address, size))
            if terms.layout.origin(address) is None:
                self.path.pointers.append(base)
            rule = terms.ult(
                terms.sub(address, terms.bv(LOWEST_ADDRESS, side.width)),
                terms.bv(HIGHEST_ADDRESS - LOWEST_ADDRESS - size + 1, side.width),
            )
            valid = LOWEST_ADDRESS <= where <= HIGHEST_ADDRESS - size
            self._decide(DecisionKind.VALID, rule, valid)
            if not valid:
                self._end_as(End.OUTSIDE)
            if _touches_frame(where, size):
                self._end_as(End.ASTRAY)
            return
        if isinstance(terms.shape(base), Choice):
            return  # one of two places in the frame
        pointer = side.world.stack_pointer
        assert pointer is not None
        offset = terms.sub(address, pointer)
        inside = terms.ult(
            terms.sub(offset, terms.bv(-FRAME_LIMIT, side.width)), terms.bv(FRAME_LIMIT - size + 1, side.width)
        )
        valid = STACK_POINTER - FRAME_LIMIT <= where <= STACK_POINTER - size
        self._decide(DecisionKind.VALID, inside, valid)
        if not valid:
            self._end_as(End.OUTSIDE)

    def _stay_inside(self, op: MicroOp) -> None:
        """The next access of the target is meant for an object: a run that leaves it is outside the contract."""
        traced = self.path.traced
        if self.side.tag != "a" or self.side.world.contract.bounds is BoundsRule.IGNORE:
            return
        bound = traced.visits[self._position].program.function.bounds[op.ins[1].offset]
        where = traced.touched[self._memory] if self._memory < len(traced.touched) else None
        inside = self.terms.condition(read(self._state, self._temps, op.ins[0]))
        if where is None or inside == self.terms.true:
            return
        self.side.world.assume_in_bounds(bound.name)
        valid = bound.admits(where, STACK_POINTER)
        self._decide(DecisionKind.VALID, inside, valid)
        if not valid:
            self._end_as(End.OUTSIDE)

    def _spare_code(self, address: Term, size: int, stopped: bool) -> None:
        """A store to an instruction that may be executed is where isoform stops (`run/memory.py`)."""
        ranges = [span for program in self._programs for span in program.function.writable_code]
        if not ranges:
            return
        terms, width = self.terms, self.side.width
        self.path.stores.append((address, size))
        hits = [
            terms.ult(terms.sub(address, terms.bv(low - size + 1, width)), terms.bv(high - low + size - 1, width))
            for low, high in ranges
        ]
        self._decide(DecisionKind.OWN_CODE, terms.any_of(hits), stopped)
        if stopped:
            self._end_as(End.LOST, f"{self.function.name} writes to its own code")

    # -- exits ----------------------------------------------------------------------------------

    def _leave(self, block: Block, target: int, goes_on: bool) -> None:
        state, temps = self._state, self._temps
        match block.exit:
            case Goto():
                return
            case Branch(flag, then, otherwise):
                if goes_on and then != otherwise:
                    taken = self.path.traced.visits[self._position + 1].block.id == then
                    self._decide(DecisionKind.BRANCH, self.terms.condition(read(state, temps, flag)), taken)
            case Switch(value, targets, elsewhere):
                if elsewhere is not None and target not in dict(targets):
                    self._call_out(block, elsewhere, goes_on)
                    return
                self._computed_jump(block, read(state, temps, value), target, goes_on)
            case Return(value, to):
                self._come_back(block, read(state, temps, value), to, target, goes_on)
            case Call() as call:
                self._call_out(block, call, goes_on)
            case Stop(why):
                self._end_as(End.LOST, why or "nothing follows")

    def _computed_jump(self, block: Block, value: Term, target: int, goes_on: bool) -> None:
        outcome = self.path.traced.outcome
        if not goes_on and outcome.status is Status.DONE and not self._fixed_caller:
            if self.terms.layout.number(value) is None and self._is_tail_call(block, value, self._state):
                self._tail_call(block, value, self._state)
                self._end_as(End.RETURNED)
            if value != self.side.world.return_address:
                self._end_as(End.LOST, "a computed jump leaves the function")
            self._finish(value, self._state)
            self._end_as(End.RETURNED)
        self._go_to(value, target)
        self._arrive_at(value, target, goes_on)

    def _go_to(self, value: Term, target: int) -> None:
        """Note where a computed jump went."""
        value = self._in_code(value)
        known = self.terms.value(value)
        if known is not None:
            if known != target:
                self._end_as(End.LOST, "the run and its formulas disagree")
            return
        if self._decided.get(value) == target:
            return
        key, edge = self._targets.classify(value, target)
        self._take(DecisionKind.TARGET, value, key, edge)

    def _arrive_at(self, value: Term, target: int, goes_on: bool) -> None:
        if goes_on:
            return
        status = self.path.traced.outcome.status
        if status is Status.DONE and self._fixed_caller and target == self._targets.caller:
            self._finish(value, self._state)
            self._end_as(End.RETURNED)
        if status is Status.ABORTED:
            self._stay_out_of_stores(value, stopped=False)
            self._abort_here()
        if status is Status.UNSUPPORTED and self._targets.faults and not self._targets.is_code(target):
            self._stay_out_of_stores(value, stopped=True)
        if status is not Status.OUT_OF_FUEL:
            self._end_as(End.LOST, f"a computed jump to {target:#x}")

    def _stay_out_of_stores(self, value: Term, stopped: bool) -> None:
        """Where there is no code a jump is a fault, unless the program stored an instruction there. The runner stops
        at such a jump (`Memory.fetch`)."""
        hits = [self._targets.fetches(value, address, size) for address, size in self.path.stores]
        self._decide(DecisionKind.OWN_CODE, self.terms.any_of(hits), stopped)
        if stopped:
            self._end_as(End.LOST, f"{self.function.name} jumps to where it stored")

    def _come_back(self, block: Block, value: Term, to: BlockId | None, target: int, goes_on: bool) -> None:
        if to is None and not self._fixed_caller:
            if goes_on:  # from a recursive call, else into code that returning there was not known to reach
                if self.terms.value(value) != target:
                    self._end_as(End.LOST, "it returns to an address that was computed")
                return
            if self.path.traced.outcome.status is not Status.OUT_OF_FUEL:
                self._finish(value, self._state)
                self._end_as(End.RETURNED)
            return
        self._go_to(value, target)
        if to is not None and target != block.id.context[-1]:
            # What the inlined caller does not read was not computed (`lift/liveness.py`).
            self._end_as(End.LOST, f"a function inlined into {self.function.name} returns elsewhere")
        self._arrive_at(value, target, goes_on)

    def _call_out(self, block: Block, call: Call, goes_on: bool) -> None:
        if call.callee == SELF:
            # Followed as it is run; but writes that no callee may rely on are not computed.
            self.path.why = self.path.why or f"{self.function.name} calls itself"
            return
        if call.callee is None:
            value = read(self._state, self._temps, call.value)
            target = self.path.traced.targets[self._position]
            image = self.function.image
            if target not in image.externals and image.code_at(image.aliases.get(target, target)):
                # Followed as it is run, too.
                self._go_to(value, target)
                self.path.why = self.path.why or f"{self.function.name} calls code through a pointer"
                if not goes_on and self.path.traced.outcome.status is not Status.OUT_OF_FUEL:
                    self._end_as(End.LOST, f"a call through a pointer to {target:#x}")
                return
        ends = not goes_on and self.path.traced.outcome.status is Status.EXITED
        before = self._state.heap
        self._call(block, call, read(self._state, self._temps, call.value), self._state, self._temps, 0)
        after = self._state.heap
        if after is not before and isinstance(after, Base):
            arrays = [self.side.heap.array(heap) for heap in (after, before)]
            self.path.kept.append(self.terms.raw_equal(*arrays))
        if ends:
            if call.then is not None:
                self._end_as(End.LOST, f"{call.callee} did not come back")
            self._end_as(End.EXITED)

    def _go(self, block: Block, target: BlockId, state: State, temps: Temps, layer: int) -> None:
        """The run says where it goes on."""

    def _check_code(self) -> None:
        """Code that was found by jumping there is guarded only from then on: nothing may have been stored to it before,
        whatever the inputs that take this path."""
        visits = self.path.traced.visits
        first = visits[0].program
        others = [visit for visit in visits if visit.program is not first]
        if not others or not self.path.stores:
            return
        code = {byte for visit in others for byte in _bytes(visit.block, visit.program.function)}
        for address, size in self.path.stores:
            where = self.terms.layout.placed(address, size)
            if where is None or not code.isdisjoint(range(where, where + size)):
                self.path.why = f"{self.function.name} may write to its own code"
                return


def _bytes(block: Block, function: Function) -> set[int]:
    return {byte for address in block.steps for byte in range(address, function.instructions[address].next_address)}


def _last_address(block: Block) -> int:
    if block.steps:
        return block.steps[-1]
    return block.addresses[-1] if block.addresses else block.id.address


def _touches_frame(where: int, size: int) -> bool:
    return where + size > STACK_POINTER - FRAME_LIMIT and where < STACK_POINTER + 8
