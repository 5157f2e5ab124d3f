"""What code does with the addresses of functions.

Of a function whose address is taken only the code is compared that is reached from its entry. A jump to a place behind
the entry, or a read at the address, would find something else. What a function does with such an address is followed in
its registers; that nothing happens after it was stored or given away is assumed (`function-addresses`).
"""

from __future__ import annotations

from collections.abc import Iterator

from isoform.engines.same_code.meaning import SLOT_SIZE, Code, Meanings, Object, Slot, Unnamed
from isoform.engines.same_code.returns import overlap
from isoform.engines.same_code.walk import Reference, Role, Walk, Walker
from isoform.model.machine import Machine
from isoform.model.microop import Kind, MicroOp, Space, Var

_KEEPING = (Kind.COPY, Kind.INT_ZEXT, Kind.INT_SEXT, Kind.SUBPIECE)
"""What gives its operand."""
_CALLS = (Kind.CALL, Kind.CALLIND)
_SMALLEST = 4
"""Bytes of a register that may hold an address: flags are smaller."""
_Holding = dict[Var, bool]
"""What may hold an address of code, and whether something was computed from it."""


class _Counts(Exception):
    pass


def counts_from_code(meanings: Meanings, walker: Walker, entry: int) -> bool:
    """Whether code computes with the address of a function, or reads there, as far as its registers show it."""
    walk = walker.walk(entry)
    sources = dict(_sources(meanings, walk))
    if not sources:
        return False
    index = {place: number for number, place in enumerate(walk.places)}
    states: dict[int, _Holding] = {index[place]: {} for place in sources if place in index}
    pending = list(states)
    try:
        while pending:
            number = pending.pop()
            operands = sources.get(walk.places[number], frozenset())
            after = _step(walker.machine, walk.ops[number], operands, dict(states[number]))
            for later in walk.steps[number].followers:
                known = states.get(later, {})
                joined = {**after, **{var: known[var] or after.get(var, False) for var in known}}
                if later not in states or joined != known:
                    states[later] = joined
                    pending.append(later)
    except _Counts:
        return True
    return False


def _sources(meanings: Meanings, walk: Walk) -> Iterator[tuple[int, frozenset[tuple[int, int]]]]:
    """Where an instruction has the address of a function: which operands of its micro-ops (their numbers, and
    positions) are one; or lead to one that it loads."""
    found: dict[int, frozenset[tuple[int, int]]] = {}
    for one in walk.references:
        if one.role is not Role.CALL and _leads_to_code(meanings, one):
            found[one.place] = found.get(one.place, frozenset()) | {one.operand}
    yield from found.items()


def _leads_to_code(meanings: Meanings, one: Reference) -> bool:
    """Whether this is the address of a function, or an access to data that holds one at first."""
    meaning, image = meanings.of(one.number), meanings.image
    own = image.own_address(one.number)
    if one.role is Role.ACCESS and isinstance(meaning, Object | Unnamed) and own in image.relocated:
        held = int.from_bytes(meanings.content(own, SLOT_SIZE), image.byte_order)
        return isinstance(meanings.of(held), Code)
    return isinstance(meaning.holds if isinstance(meaning, Slot) else meaning, Code)


def _step(machine: Machine, ops: tuple[MicroOp, ...], operands: frozenset[tuple[int, int]], held: _Holding) -> _Holding:
    """Raises `_Counts` where something is read at an address of code, or one that something was added to is kept."""
    for number, op in enumerate(ops):
        own = [(number, position) in operands for position in range(len(op.ins))]
        is_loaded = op.kind is Kind.LOAD and own[0]
        ins = [False if is_own else _found(held, var) for var, is_own in zip(op.ins, own, strict=True)]
        if op.kind in (Kind.LOAD, Kind.STORE) and ins[0] is not None and not own[0]:
            raise _Counts
        if op.kind in (Kind.STORE, Kind.CALLIND, Kind.BRANCHIND, Kind.RETURN) and True in ins:
            raise _Counts
        if op.out is None:
            continue
        for var in [var for var in held if overlap(var, op.out)]:
            del held[var]
        is_held = is_loaded or (op.kind is not Kind.LOAD and any(one is not None for one in ins))
        if is_held and op.out.size >= _SMALLEST:
            is_computed = True in ins or not (is_loaded or op.kind in (*_KEEPING, Kind.SELECT))
            if is_computed and op.out.space is Space.REGISTER:
                raise _Counts
            held[op.out] = is_computed
    if any(op.kind in _CALLS for op in ops):
        convention = machine.convention
        gone = [machine.registers[name] for name in (*convention.scratch_after_call, *convention.result)]
        held = {var: one for var, one in held.items() if not any(overlap(var, register) for register in gone)}
    return {var: one for var, one in held.items() if var.space is Space.REGISTER}


def _found(held: _Holding, var: Var) -> bool | None:
    """None if a value is not made of an address of code; else whether something was computed from it."""
    known = [one for other, one in held.items() if overlap(var, other)] if held else []
    return any(known) if known else None
