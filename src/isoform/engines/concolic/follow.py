"""The encoder's policy for a single path: the run decides each branch, and the path collects the conditions."""

from __future__ import annotations

from isoform.engines.concolic.path import DecisionKind, End
from isoform.engines.concolic.record import Record
from isoform.engines.concolic.targets import Targets
from isoform.lift.cfg import SELF
from isoform.lift.function import BlockId, Branch, Call, Return, Stop, Switch
from isoform.model.contract import BoundsRule
from isoform.model.outcome import FRAME_LIMIT, STACK_POINTER, Status
from isoform.smt.shapes import Choice
from isoform.smt.terms import Term
from isoform.sym.calls import Calls
from isoform.sym.chain import Base
from isoform.sym.jumps import in_code, is_tail_call
from isoform.sym.policy import Policy
from isoform.sym.scope import Scope
from isoform.sym.state import State
from isoform.sym.step import Temps, read
from isoform.sym.summary import Fault
from isoform.sym.validity import HIGHEST_ADDRESS, LOWEST_ADDRESS


class Following(Policy):
    """Follows the run of `record`. Calls and their effects are those of the whole-function execution."""

    record: Record

    def __init__(self, scope: Scope, targets: Targets) -> None:
        super().__init__()
        self._scope = scope
        self._calls = Calls(scope)
        self._side = scope.side
        self._terms = scope.terms
        self._name = scope.function.name
        self._targets = targets
        layout = self._side.machine.memory
        self._any_address = layout is not None and layout.size is None
        """Whether addresses must be ones that programs may use."""
        self._fixed_caller = self._side.entry.has_fixed_caller

    def follow(self, scope: Scope, target: BlockId, state: State) -> int | None:
        """The run decides what is executed next."""
        return None

    # -- decisions ------------------------------------------------------------------------------

    def branch(self, scope: Scope, state: State, condition: Term) -> tuple[Term, Term]:
        record, exit_ = self.record, scope.block.exit
        assert isinstance(exit_, Branch)
        is_taken = True
        if record.goes_on and exit_.then != exit_.otherwise:
            is_taken = record.path.traced.visits[record.position + 1].block.id == exit_.then
            record.decide(DecisionKind.BRANCH, condition, is_taken)
        edges = state.condition, self._terms.false
        return edges if is_taken else edges[::-1]

    def fault(self, scope: Scope, state: State, condition: Term) -> None:
        is_last = not self.record.goes_on
        fired = is_last and self.record.path.traced.abort == scope.number
        self.record.decide(DecisionKind.FAULT, condition, fired)
        if fired:
            self._abort()

    def _abort(self) -> None:
        state = self.record.state
        self._scope.summary.aborts = state.condition
        self._scope.summary.faults.append(Fault(state.condition, state.heap))
        self.record.end_as(End.ABORTED)

    def unsupported(self, scope: Scope, state: State) -> None:
        self.record.end_as(End.LOST, self.record.path.traced.outcome.reason or "an instruction without semantics")

    # -- memory ---------------------------------------------------------------------------------

    def access(self, scope: Scope, state: State, address: Term, size: int, is_store: bool) -> None:
        """Decisions about an access before it is made."""
        traced = self.record.path.traced
        where = traced.touched[self.record.memory] if self.record.memory < len(traced.touched) else None
        base, _ = self._terms.split_sum(address)
        if self._terms.layout.placed(address, size) is not None:
            base = None  # it is in an object, wherever the object is
        if is_store:
            stopped = self.record.position >= len(traced.targets) and self.record.memory + 1 >= len(traced.touched)
            self._spare_code(address, size, stopped)
        if where is not None and base is not None and self._any_address and not self._side.is_stack_pointer(base):
            self._stay_valid(address, base, where, size)
        elif not is_store and (base is None or not self._side.is_stack_pointer(base)):
            self.record.path.loads.append((address, size))
        self.record.memory += 1

    def _stay_valid(self, address: Term, base: Term, where: int, size: int) -> None:
        terms, side = self._terms, self._side
        if not side.mentions_stack(base):
            self.record.path.loads.append((address, size))
            if terms.layout.origin(address) is None:
                self.record.path.pointers.append(base)
            rule = terms.ult(
                terms.sub(address, terms.bv(LOWEST_ADDRESS, side.width)),
                terms.bv(HIGHEST_ADDRESS - LOWEST_ADDRESS - size + 1, side.width),
            )
            valid = LOWEST_ADDRESS <= where <= HIGHEST_ADDRESS - size
            self.record.decide(DecisionKind.VALID, rule, valid)
            if not valid:
                self.record.end_as(End.OUTSIDE)
            if _touches_frame(where, size):
                self.record.end_as(End.ASTRAY)
            return
        if isinstance(terms.shape(base), Choice):
            return  # one of two places in the frame
        pointer = side.entry.stack_pointer
        assert pointer is not None
        offset = terms.sub(address, pointer)
        inside = terms.ult(
            terms.sub(offset, terms.bv(-FRAME_LIMIT, side.width)), terms.bv(FRAME_LIMIT - size + 1, side.width)
        )
        valid = STACK_POINTER - FRAME_LIMIT <= where <= STACK_POINTER - size
        self.record.decide(DecisionKind.VALID, inside, valid)
        if not valid:
            self.record.end_as(End.OUTSIDE)

    def bound(self, scope: Scope, state: State, inside: Term, number: int) -> None:
        """The next access of the target is meant for an object: a run that leaves it is outside the contract."""
        record, traced = self.record, self.record.path.traced
        if self._side.tag != "a" or self._side.world.contract.bounds is BoundsRule.IGNORE:
            return
        bound = record.program.function.bounds[number]
        where = traced.touched[record.memory] if record.memory < len(traced.touched) else None
        if where is None or inside == self._terms.true or not bound.is_sure:
            return
        self._side.world.assume_in_bounds(bound.name)
        valid = bound.admits(where, STACK_POINTER)
        record.decide(DecisionKind.VALID, inside, valid)
        if not valid:
            record.end_as(End.OUTSIDE)

    def _spare_code(self, address: Term, size: int, stopped: bool) -> None:
        """A store to an instruction that may be executed is where isoform stops (`run/memory.py`)."""
        ranges = [span for program in self.record.programs for span in program.function.writable_code]
        if not ranges:
            return
        terms, width = self._terms, self._side.width
        self.record.path.stores.append((address, size))
        hits = [
            terms.ult(terms.sub(address, terms.bv(low - size + 1, width)), terms.bv(high - low + size - 1, width))
            for low, high in ranges
        ]
        self.record.decide(DecisionKind.OWN_CODE, terms.any_of(hits), stopped)
        if stopped:
            self.record.end_as(End.LOST, f"{self._name} writes to its own code")

    # -- exits ----------------------------------------------------------------------------------

    def leave(self, scope: Scope, state: State, temps: Temps) -> bool:
        """Computed jumps, returns and calls lead to the targets of the run."""
        target = self.record.path.traced.targets[self.record.position]
        match scope.block.exit:
            case Switch(_, targets, Call() as elsewhere) if target not in dict(targets):
                self._call(elsewhere)
            case Switch(value):
                self._computed_jump(self._side.code_number(read(state, temps, value)), target)
            case Return(value, to):
                self._come_back(self._side.code_number(read(state, temps, value)), to, target)
            case Call() as call:
                self._call(call)
            case Stop(why):
                self.record.end_as(End.LOST, why or "nothing follows")
            case _:
                return False
        return True

    @property
    def _status(self) -> Status:
        return self.record.path.traced.outcome.status

    def _end_with(self, address: Term) -> None:
        """The run returned, to an address."""
        self.finish(self._scope, address, self.record.state)
        self.record.end_as(End.RETURNED)

    def _computed_jump(self, value: Term, target: int) -> None:
        scope, record = self._scope, self.record
        if not record.goes_on and self._status is Status.DONE and not self._fixed_caller:
            if self._terms.layout.number(value) is None and is_tail_call(scope, scope.block, value, record.state):
                self._end_with(self._calls.tail_call(scope.block, value, record.state))
            if value != self._side.entry.return_address:
                record.end_as(End.LOST, "a computed jump leaves the function")
            self._end_with(value)
        self._go_to(value, target)
        self._arrive_at(value, target)

    def _go_to(self, value: Term, target: int) -> None:
        """Record the target of a computed jump."""
        value = in_code(self._scope, value)
        known = self._terms.value(value)
        if known is not None:
            if known != target:
                self.record.end_as(End.LOST, "the run and its formulas disagree")
            return
        if self.record.decided.get(value) == target:
            return
        key, edge = self._targets.classify(value, target)
        self.record.take(DecisionKind.TARGET, value, key, edge)

    def _arrive_at(self, value: Term, target: int) -> None:
        if self.record.goes_on:
            return
        status = self._status
        if status is Status.DONE and self._fixed_caller and target == self._targets.caller:
            self._end_with(value)
        if status is Status.ABORTED:
            self._stay_out_of_stores(value, stopped=False)
            self._abort()
        if status is Status.UNSUPPORTED and self._targets.faults and not self._targets.is_code(target):
            self._stay_out_of_stores(value, stopped=True)
        if status is not Status.OUT_OF_FUEL:
            self.record.end_as(End.LOST, f"a computed jump to {target:#x}")

    def _stay_out_of_stores(self, value: Term, stopped: bool) -> None:
        """Where there is no code a jump is a fault, unless the program stored an instruction there. The runner stops
        at such a jump (`Memory.fetch`)."""
        hits = [self._targets.fetches(value, address, size) for address, size in self.record.path.stores]
        self.record.decide(DecisionKind.OWN_CODE, self._terms.any_of(hits), stopped)
        if stopped:
            self.record.end_as(End.LOST, f"{self._name} jumps to where it stored")

    def _come_back(self, value: Term, to: BlockId | None, target: int) -> None:
        if to is None and not self._fixed_caller:
            if self.record.goes_on:  # from a recursive call, else into code that this return was not known to reach
                if self._terms.value(value) != target:
                    self.record.end_as(End.LOST, "it returns to an address that was computed")
                return
            if self._status is not Status.OUT_OF_FUEL:
                self._end_with(value)
            return
        self._go_to(value, target)
        if to is not None and target != self._scope.block.id.context[-1]:
            # What the inlined caller does not read was not computed (`lift/liveness.py`).
            self.record.end_as(End.LOST, f"a function inlined into {self._name} returns elsewhere")
        self._arrive_at(value, target)

    def _call(self, call: Call) -> None:
        if call.callee == SELF:
            # Followed as in the run; but writes that no callee may rely on are not computed.
            self.record.path.why = self.record.path.why or f"{self._name} calls itself"
            return
        value = self._side.code_number(read(self.record.state, self.record.temps, call.value))
        if call.callee is None and self._is_to_code(value):
            return
        ends = not self.record.goes_on and self._status is Status.EXITED
        before = self.record.state.heap
        self._calls.call(self._scope.block, call, value, self.record.state)
        after = self.record.state.heap
        if after is not before and isinstance(after, Base):
            arrays = [self._side.heap.array(heap) for heap in (after, before)]
            self.record.path.kept.append(self._terms.raw_equal(*arrays))
        if ends:
            if call.then is not None:
                self.record.end_as(End.LOST, f"{call.callee} did not return")
            self.record.end_as(End.EXITED)

    def _is_to_code(self, value: Term) -> bool:
        """Whether a call through a pointer is to code that is present: it is followed as in the run."""
        record, image = self.record, self._scope.function.image
        target = record.path.traced.targets[record.position]
        if target in image.externals or not image.code_at(image.aliases.get(target, target)):
            return False
        self._go_to(value, target)
        record.path.why = record.path.why or f"{self._name} calls code through a pointer"
        if not record.goes_on and self._status is not Status.OUT_OF_FUEL:
            record.end_as(End.LOST, f"a call through a pointer to {target:#x}")
        return True


def _touches_frame(where: int, size: int) -> bool:
    return where + size > STACK_POINTER - FRAME_LIMIT and where < STACK_POINTER + 8
