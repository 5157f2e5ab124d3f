"""Symbolic execution of one function: the encoder that loop-free proofs, segments between cuts and single paths share.

This is seed 002's construction (block formulas with path conditions) through terms instead of named register versions:
every block once a layer, in topological order, states merged at joins. A policy says where it starts and stops and what
it does at branches (`policy.py`).
"""

from __future__ import annotations

from isoform.lift.function import BlockId, Branch, Call, Goto, Return, Stop, Switch
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported
from isoform.model.microop import Kind, MicroOp, Space, Var
from isoform.smt.terms import Term
from isoform.sym.calls import Calls
from isoform.sym.choices import without
from isoform.sym.giving import enter
from isoform.sym.joins import Joins
from isoform.sym.jumps import discover, in_code, is_tail_call, jump_address
from isoform.sym.places import return_addresses, stored_address
from isoform.sym.policy import Point, Policy, ValueRule
from isoform.sym.scope import Scope
from isoform.sym.state import State
from isoform.sym.step import Temps, read, step, write
from isoform.sym.summary import GapKind, Summary

_PUT_AWAY = -1
"""Stands for a temporary with a return address."""
OP_SECONDS = 40e-6
"""The charge per micro-op: measured on four pairs, 20 to 66 microseconds each."""


class Execution:
    """Executes one function symbolically, as a policy says."""

    def __init__(self, scope: Scope, budget: Budget, policy: Policy) -> None:
        self._scope = scope
        self._calls = Calls(scope)
        self._terms = scope.terms
        self._budget = budget
        self._policy = policy
        self._value = policy.value
        self._joins = Joins(scope.terms, policy.order(scope.function))

    def run(self) -> Summary:
        """From where the policy starts to all ends that are reached."""
        scope, policy = self._scope, self._policy
        self._joins.arrive(policy.start(scope), policy.entry(scope.side), {}, 0)
        while self._joins:
            if self._budget.exhausted:
                raise Unsupported(f"{self._budget.why_exhausted()} while encoding {scope.function.name}")
            if self._joins.next_layer > scope.layer:
                scope.layer = self._joins.next_layer
                policy.enter_layer(scope, self._joins.conditions(scope.layer))
            scope.block, scope.number = scope.function.blocks[self._joins.next_block], 0
            block, state, temps = self._joins.take()
            if scope.side.locals is not None:
                enter(state, block)
            if policy.goes_on(scope, state) and state.condition != self._terms.false and self.ops(state, temps):
                self.leave(state, temps)
        return scope.summary

    # -- blocks ---------------------------------------------------------------------------------

    def ops(self, state: State, temps: Temps, first: int = 0) -> bool:
        """Execute the micro-ops of the scope's block, from `first`. Returns whether any input reaches its end."""
        scope = self._scope
        ops, returns = scope.block.ops, return_addresses(scope.block)
        self._budget.charge(OP_SECONDS * len(ops))
        for number in range(first, len(ops)):
            scope.number = number
            op = ops[number]
            address = stored_address(op, returns)
            if address is not None:
                op = self._put_away(op, address, temps)
            if not self._carry_out(op, state, temps):
                return False
        scope.number = len(ops)
        return True

    def _put_away(self, op: MicroOp, address: int, temps: Temps) -> MicroOp:
        """The micro-op with an address of code instead of the number at which isoform placed that."""
        size = op.ins[-1].size
        temps[_PUT_AWAY] = self._scope.side.code_address(address, 8 * size)
        return op._replace(ins=(*op.ins[:-1], Var(Space.TEMP, _PUT_AWAY, size)))

    def _carry_out(self, op: MicroOp, state: State, temps: Temps) -> bool:
        scope, policy = self._scope, self._policy
        kind = op.kind
        if kind is Kind.ABORT:
            policy.fault(scope, state, self._terms.condition(read(state, temps, op.ins[0])))
            return bool(state.condition != self._terms.false)
        if kind is Kind.ASSUME:
            policy.bound(scope, state, self._terms.condition(read(state, temps, op.ins[0])), op.ins[1].offset)
            return True
        if kind is Kind.UNSUPPORTED:
            policy.unsupported(scope, state)
            return False
        if kind is Kind.LOAD or kind is Kind.STORE:
            size = op.out.size if op.out is not None else op.ins[1].size
            address = read(state, temps, op.ins[0])
            policy.access(scope, state, address, size, kind is Kind.STORE)
            scope.note_access(state, address, size, kind is Kind.STORE)
        if self._value is None:
            step(state, temps, op)
        else:
            self._step_with(self._value, op, state, temps)
        scope.end_access()
        return kind is not Kind.STORE or bool(state.condition != self._terms.false)

    def _step_with(self, value: ValueRule, op: MicroOp, state: State, temps: Temps) -> None:
        scope = self._scope
        point = Point(scope.block.id, scope.number, scope.layer, scope.address, op)
        if op.out is None:
            address, stored = (read(state, temps, var) for var in op.ins)
            state.store(address, value(point, state, stored), op.ins[1].size)
        else:
            step(state, temps, op)
            write(state, temps, op.out, value(point, state, read(state, temps, op.out)))

    # -- exits ----------------------------------------------------------------------------------

    def leave(self, state: State, temps: Temps) -> None:
        """Execute the end of the scope's block."""
        if self._policy.leave(self._scope, state, temps):
            return
        match self._scope.block.exit:
            case Goto(target):
                self._go(target, state, temps)
            case Branch(flag, then, otherwise):
                self._branch(self._terms.condition(read(state, temps, flag)), then, otherwise, state, temps)
            case Switch() as switch:
                self._switch(switch, self._target(switch.value, state, temps), state, temps)
            case Return(value, to):
                self._return(self._target(value, state, temps), to, state, temps)
            case Call() as call:
                self._call(call, self._target(call.value, state, temps), state, temps)
            case Stop(why):
                if state.condition != self._terms.false:
                    self._gap(GapKind.UNSUPPORTED, state, f"{self._name} runs into {why or 'nothing'}")

    def _target(self, value: Var, state: State, temps: Temps) -> Term:
        return self._scope.side.code_number(read(state, temps, value))

    @property
    def _name(self) -> str:
        return self._scope.function.name

    def _gap(self, kind: GapKind, state: State, why: str) -> None:
        self._scope.gap(kind, state.condition, why)

    def _go(self, target: BlockId, state: State, temps: Temps) -> None:
        if state.condition == self._terms.false:
            return
        layer = self._policy.follow(self._scope, target, state)
        if layer is not None:
            self._joins.arrive(target, state, temps, layer)

    def _branch(self, condition: Term, then: BlockId, otherwise: BlockId, state: State, temps: Temps) -> None:
        taken, other = self._policy.branch(self._scope, state, condition)
        if other == self._terms.false:
            state.condition = taken
            self._go(then, state, temps)
            return
        if taken != self._terms.false:
            self._go(then, state.fork(taken), dict(temps))
        state.condition = other
        self._go(otherwise, state, temps)

    def _switch(self, switch: Switch, value: Term, state: State, temps: Temps) -> None:
        terms, block = self._terms, self._scope.block
        self._scope.note_decision(value)
        number = in_code(self._scope, value)
        for address, target in switch.targets:
            here = terms.eq(number, terms.bv(address, terms.width(value)))
            self._go(target, state.fork(terms.conj(state.condition, here)), dict(temps))
            state.condition = terms.conj(state.condition, terms.negate(here))
        value = without(terms, value, {address for address, _ in switch.targets})
        if switch.elsewhere is not None:
            if state.condition != terms.false:
                self._call(switch.elsewhere, value, state, temps)
            return
        self._to_caller(value, state)
        if state.condition == terms.false:
            return
        if is_tail_call(self._scope, block, value, state):
            made_before = self._scope.side.before_calls
            self._policy.finish(self._scope, self._calls.tail_call(block, value, state), state)
            # Nothing follows a tail call: accesses that are recorded later are on paths without it.
            self._scope.side.before_calls = made_before
            return
        discover(self._scope, block, value)
        where = f"at {jump_address(block):#x} that isoform could not resolve"
        self._gap(GapKind.UNRESOLVED, state, f"{self._name} jumps to a computed address {where}")

    def _to_caller(self, value: Term, state: State) -> None:
        """Jumping to the caller is returning. If the caller's address is an input, only the value that was passed
        counts as a return: an equal number elsewhere is not known to be one."""
        entry = self._scope.side.entry
        if not entry.has_fixed_caller and value != entry.return_address:
            return
        ends = self._terms.eq(value, entry.return_address)
        leaving = self._terms.conj(state.condition, ends)
        if leaving != self._terms.false:
            self._policy.finish(self._scope, value, state.fork(leaving))
            state.condition = self._terms.conj(state.condition, self._terms.negate(ends))

    def _return(self, target: Term, to: BlockId | None, state: State, temps: Temps) -> None:
        terms = self._terms
        if to is not None:
            self._return_from_inlined(target, to, state, temps)
        elif self._scope.side.entry.has_fixed_caller:
            # Only one address ends the program; a return elsewhere is a jump that was not followed.
            self._to_caller(target, state)
            if state.condition != terms.false:
                self._gap(GapKind.UNRESOLVED, state, f"{self._name} returns to a computed address")
        else:
            self._policy.finish(self._scope, target, state)

    def _return_from_inlined(self, target: Term, to: BlockId, state: State, temps: Temps) -> None:
        terms = self._terms
        expected = terms.bv(self._scope.block.id.context[-1], terms.width(target))
        back = state.fork(terms.conj(state.condition, terms.eq(target, expected)))
        state.condition = terms.conj(state.condition, terms.negate(terms.eq(target, expected)))
        if state.condition != terms.false:
            self._gap(GapKind.UNRESOLVED, state, f"a function inlined into {self._name} returns elsewhere")
        self._go(to, back, temps)

    def _call(self, call: Call, value: Term, state: State, temps: Temps) -> None:
        then = self._calls.call(self._scope.block, call, value, state)
        if then is not None:
            self._go(then, state, temps)
