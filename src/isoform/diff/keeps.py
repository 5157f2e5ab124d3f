"""Whether a function leaves its callers what the convention says: callee-saved registers, the stack pointer and their
frames.

Of an outside function this is assumed. Of a callee that is taken for one, and whose code is here, it is looked up: two
functions that are the same code may break the convention alike, and their callers need not be hurt alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from isoform.engines.same_code.returns import overlap, sum_of
from isoform.engines.same_code.walk import Walk
from isoform.model.machine import Machine
from isoform.model.microop import Kind, MicroOp, Space, Var

_WORD = 8
_Value = Var | int
"""What a register had at entry; or a distance from the stack pointer at entry."""
_State = dict[Var | int, _Value]
"""What registers, and words of the frame (by their distance), surely hold."""


class _Broken(Exception):
    pass


class Keeper:
    """For the functions of one file. `walk` gives those that are in it, None for others."""

    def __init__(self, machine: Machine, walk: Callable[[int], Walk | None]) -> None:
        self._machine, self._walk = machine, walk
        self._known: dict[int, bool] = {}

    def keeps(self, entry: int) -> bool:
        """Whether the function, and all that it calls in the file, do so."""
        seen, pending = {entry}, [entry]
        while pending:
            own = pending.pop()
            walk = self._walk(own)
            if walk is None:
                continue
            if own not in self._known:
                self._known[own] = _keeps(self._machine, walk)
            if not self._known[own]:
                return False
            more = [callee for callee in walk.callees if callee not in seen]
            seen |= {*more}
            pending += more
        return True


def _keeps(machine: Machine, walk: Walk) -> bool:
    if walk.refused or walk.is_unsupported or not walk.ops:
        return False
    follower = _Keeping(machine)
    states: dict[int, _State] = {0: follower.at_entry()}
    pending = [0]
    try:
        while pending:
            index = pending.pop()
            after = follower.step(walk.ops[index], dict(states[index]), bool(walk.steps[index].followers))
            for later in walk.steps[index].followers:
                joined = after if later not in states else _common(states[later], after)
                if states.get(later) != joined:
                    states[later] = joined
                    pending.append(later)
    except _Broken:
        return False
    return True


def _common(left: Mapping[Var | int, _Value], right: Mapping[Var | int, _Value]) -> _State:
    return {place: value for place, value in left.items() if right.get(place) == value}


class _Keeping:
    """An array of the frame is taken not to overflow: stores at addresses that are not known keep what was saved."""

    def __init__(self, machine: Machine) -> None:
        convention = machine.convention
        assert convention.stack_pointer is not None
        self._pointer = machine.registers[convention.stack_pointer]
        self._adjustment = convention.stack_adjustment
        self._kept = [machine.registers[name] for name in convention.callee_saved]
        lost = (*convention.scratch_after_call, *convention.result, *convention.float_result)
        self._lost = [machine.registers[name] for name in lost]
        system = (*convention.scratch_after_system, *convention.result[:1])
        self._lost_to_system = [machine.registers[name] for name in system]

    def at_entry(self) -> _State:
        state: _State = {self._pointer: 0}
        state.update({register: register for register in self._kept})
        return state

    def step(self, ops: tuple[MicroOp, ...], state: _State, goes_on: bool) -> _State:
        """Raises `_Broken` where control leaves the function in another state than that of the convention."""
        is_plain = not any(var.space is Space.INNER for op in ops for var in op.ins)
        for op in ops:
            if op.kind is Kind.RETURN:
                self._require(state, self._adjustment)
            elif op.kind in (Kind.BRANCH, Kind.BRANCHIND) and not goes_on:
                self._require(state, 0)  # a call in the place of a return
            elif op.kind is Kind.STORE:
                self._store(op, state, is_plain)
            elif op.out is not None:
                self._write(op.out, _value(op, state) if is_plain else None, state)
            if op.kind is Kind.SYSTEM:
                self._lose(self._lost_to_system, state)
        if any(op.kind in (Kind.CALL, Kind.CALLIND) for op in ops):
            self._lose(self._lost, state)
            pointer = state.get(self._pointer)
            if isinstance(pointer, int):
                state[self._pointer] = pointer + _WORD
        return {place: value for place, value in state.items() if isinstance(place, int) or _is_register(place)}

    def _lose(self, registers: Iterable[Var], state: _State) -> None:
        for register in registers:
            self._write(register, None, state)

    def _require(self, state: _State, adjustment: int) -> None:
        if state.get(self._pointer) != adjustment or any(state.get(register) != register for register in self._kept):
            raise _Broken

    def _store(self, op: MicroOp, state: _State, is_plain: bool) -> None:
        place, size = state.get(op.ins[0]), op.ins[1].size
        if not isinstance(place, int):
            return
        if place + size > 0:
            raise _Broken  # the return address, or the caller's frame
        for other in [p for p in state if isinstance(p, int) and p < place + size and place < p + _WORD]:
            del state[other]
        value = state.get(op.ins[1])
        if value is not None and size == _WORD and is_plain:
            state[place] = value

    def _write(self, out: Var, value: _Value | None, state: _State) -> None:
        for var in [v for v in state if isinstance(v, Var) and overlap(v, out)]:
            del state[var]
        if value is not None:
            state[out] = value


def _is_register(var: Var) -> bool:
    return var.space is Space.REGISTER


def _value(op: MicroOp, state: _State) -> _Value | None:
    if op.kind is Kind.COPY:
        return state.get(op.ins[0])
    if op.kind is Kind.LOAD:
        place = state.get(op.ins[0])
        is_word = op.out is not None and op.out.size == _WORD
        return state.get(place) if isinstance(place, int) and is_word else None
    return sum_of(op, {var: value for var, value in state.items() if isinstance(var, Var) and isinstance(value, int)})
