"""What a function finds at its entry and uses: bytes of registers, and what is above its own frame.

Two functions that are compared start in the same state. If different code calls them, only their arguments and memory
are the same. So they count as the same function for their callers only if they use nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from isoform.engines.same_code.returns import Frame, frames_of
from isoform.engines.same_code.walk import Role, Walk
from isoform.model.contract import Argument
from isoform.model.machine import Machine
from isoform.model.microop import Kind, MicroOp, Space, Var
from isoform.model.placement import Placement

Bytes = frozenset[tuple[Space, int]]
Reads = Callable[[int], Bytes | None]
"""The bytes of registers that the function at an address takes as arguments; None if that is not known."""
_SELF_CANCELLING = (Kind.INT_XOR, Kind.INT_SUB)
_FROM_LOW_BYTES = frozenset(
    {Kind.COPY, Kind.INT_ADD, Kind.INT_SUB, Kind.INT_MULT, Kind.INT_AND, Kind.INT_OR, Kind.INT_XOR}
)
"""Byte n of the result depends on the bytes up to n of the operands, and on no others."""
_CALLS = (Kind.CALL, Kind.CALLIND)
_EXTENDED = 4
"""Bytes to which callers extend narrow integers (`narrow-arguments-extended`)."""
NOTHING: Bytes = frozenset()


def argument_bytes(machine: Machine, arguments: Iterable[Argument]) -> Bytes | None:
    """None if some argument is on the stack."""
    found: set[tuple[Space, int]] = set()
    for argument in arguments:
        for place in argument.places:
            if place.register is None:
                return None
            start = machine.registers[place.register].offset + place.offset
            size = max(place.size, _EXTENDED) if place.register in machine.convention.integer_arguments else place.size
            found |= {(Space.REGISTER, byte) for byte in range(start, start + size)}
    return frozenset(found)


def passed_bytes(machine: Machine) -> Bytes:
    """All in which something may be passed."""
    convention = machine.convention
    names = (*convention.integer_arguments, *convention.float_arguments, *convention.result[:1])
    return frozenset(_bytes_of(machine, names))


def uses_only(machine: Machine, walk: Walk, placement: Placement, reads: Reads) -> bool:
    """Whether a function uses nothing that it finds in registers but its arguments, and nothing above its frame."""
    allowed = argument_bytes(machine, placement.arguments)
    if allowed is None or placement.stack_argument_bytes or placement.result_space:
        return False
    results = {
        (Space.REGISTER, machine.registers[one.register].offset + one.offset + byte)
        for one in placement.results
        for byte in range(-(-one.bits // 8))
    }
    live = used_at_entry(machine, walk, frozenset(results), reads)
    if live is None:
        return False
    constant = _bytes_of(machine, (machine.convention.stack_pointer or "", *machine.convention.as_at_entry))
    if machine.thread_pointer is not None:
        constant |= _bytes_of(machine, (machine.thread_pointer,))
    return live <= allowed | constant


def used_at_entry(machine: Machine, walk: Walk, results: Bytes, reads: Reads) -> Bytes | None:
    """What a function uses of the registers as it finds them; None if it reads what is above its frame."""
    frames = None if walk.refused else frames_of(machine, walk)
    if frames is None:
        return None
    live = _Live(machine, walk, frames, results, reads).at_entry()
    return frozenset(one for one in live if one[0] is Space.REGISTER)


def _bytes_of(machine: Machine, names: Iterable[str]) -> set[tuple[Space, int]]:
    found = set()
    for name in names:
        register = machine.registers.get(name)
        if register is not None:
            found |= {*_bytes(register)}
    return found


def _bytes(var: Var) -> Bytes:
    if var.space not in (Space.REGISTER, Space.TEMP):
        return NOTHING
    return frozenset((var.space, var.offset + byte) for byte in range(var.size))


class _Live:
    """Backward data flow over the steps of a walk."""

    def __init__(self, machine: Machine, walk: Walk, frames: list[Frame | None], results: Bytes, reads: Reads) -> None:
        self._machine, self._walk, self._frames, self._results, self._reads = machine, walk, frames, results, reads
        convention = machine.convention
        self._passed = passed_bytes(machine)
        self._system = _bytes_of(machine, convention.system_arguments)
        gone = (*convention.scratch_after_call, *convention.result, *convention.float_result)
        self._gone = frozenset(_bytes_of(machine, gone))
        self._callees = {one.place: one.number for one in walk.references if one.role is Role.CALL}

    def at_entry(self) -> Bytes:
        steps = self._walk.steps
        live: list[Bytes] = [NOTHING] * len(steps)
        before: list[list[int]] = [[] for _ in steps]
        for index, step in enumerate(steps):
            for follower in step.followers:
                before[follower].append(index)
        pending = list(range(len(steps)))
        waiting = set(pending)
        while pending:
            index = pending.pop()
            waiting.discard(index)
            after = NOTHING.union(*(live[follower] for follower in steps[index].followers))
            found = self._before(index, after)
            if found != live[index]:
                live[index] = found
                for other in before[index]:
                    if other not in waiting:
                        waiting.add(other)
                        pending.append(other)
        return live[0]

    def _before(self, index: int, after: Bytes) -> Bytes:
        ops = self._walk.ops[index]
        is_plain = not any(var.space is Space.INNER for op in ops for var in op.ins)
        frame = self._frames[index]
        saved = frame.saved if frame is not None else frozenset[int]()
        live = set(after)
        for number in range(len(ops) - 1, -1, -1):
            op = ops[number]
            self._undo(op, index, live, is_plain, number in saved)
        return frozenset(live)

    def _undo(self, op: MicroOp, index: int, live: set[tuple[Space, int]], is_plain: bool, is_saving: bool) -> None:
        known = self._callees.get(self._walk.places[index])
        if op.kind in _CALLS:
            live -= self._gone
            taken = self._reads(known) if known is not None and op.kind is Kind.CALL else None
            live |= self._passed if taken is None else taken
        elif op.kind is Kind.SYSTEM:
            live |= self._system
        elif op.kind is Kind.RETURN:
            live |= self._results
        elif op.kind is Kind.BRANCH and known is not None and op.ins[0].space is Space.CODE:
            taken = self._reads(known)
            live |= self._passed if taken is None else taken
        elif op.kind is Kind.BRANCHIND:
            live |= self._passed | self._results
        needed = _needed(op, live) if is_plain else None
        if op.out is not None and is_plain:
            live -= _bytes(op.out)
        if is_saving or (op.kind in _SELF_CANCELLING and op.ins[0] == op.ins[1]):
            return
        for var in op.ins:
            live |= _bytes(var if needed is None else var._replace(size=min(needed, var.size)))


def _needed(op: MicroOp, live: Collection[tuple[Space, int]]) -> int | None:
    """How many of the lowest bytes of its operands an operation needs for those bytes of its result that are used;
    None: all. (Of a sum in a half register the upper halves of its summands are not used.)"""
    if op.out is None or op.kind not in (*_FROM_LOW_BYTES, Kind.SUBPIECE):
        return None
    out, first = op.out, op.ins[1].offset if op.kind is Kind.SUBPIECE else 0
    return max((first + byte + 1 for byte in range(out.size) if (out.space, out.offset + byte) in live), default=0)
