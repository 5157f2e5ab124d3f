"""Which parameter, or named object, the address of each load and store of a function is computed from: a forward data
flow over its micro-ops.

A value is followed as a sum: parameters with known factors, and a number. `p + 4·i` is an address computed from `p`; so
is `q + (p - q)`. Nothing is said of a value that is made of parameters in another way, nor of a pointer that was loaded
from memory.

Where code has found two addresses equal, a compiler uses either of them for what the source accesses through the other:
nothing is said of accesses there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

from isoform.lift.function import Block, BlockId, Branch, Function, Switch, outside_call
from isoform.lift.thread import is_distance
from isoform.model.contract import Argument
from isoform.model.microop import Kind, MicroOp, Space, Var
from isoform.model.signature import TypeKind
from isoform.model.values import dataclass

_STACK = -1
"""The stack pointer at entry, among the positions of parameters."""
OBJECT = -2
"""The same for every object that has a name."""
_EQUALITY = -3
"""The same for what tells whether two addresses are equal; `constant` is what it is then, if that is known."""
_BITS = 64
_MODULUS = 1 << _BITS
_POINTER_BYTES = 8


@dataclass(frozen=True)
class Value:
    factors: tuple[tuple[int, int], ...] | None
    """By position of a parameter; None: not a sum."""
    sources: frozenset[int]
    """The parameters that it may be computed from."""
    constant: int | None = None
    """What is added, if it is known."""

    @property
    def base(self) -> int | None:
        """The parameter to which numbers, and nothing else, were added."""
        only = self.factors[0] if self.factors is not None and len(self.factors) == 1 else None
        return only[0] if only is not None and only[1] == 1 else None


NUMBER = Value((), frozenset())
"""Computed from no pointer."""

_COMPARING = frozenset(
    {
        *(Kind.INT_EQUAL, Kind.INT_NOTEQUAL, Kind.INT_LESS, Kind.INT_LESSEQUAL, Kind.INT_SLESS, Kind.INT_SLESSEQUAL),
        *(Kind.INT_CARRY, Kind.INT_SCARRY, Kind.INT_SBORROW, Kind.UNDEFINED),
    }
)
"""The results of these are no addresses: what they decide is which path is taken."""

_Key = tuple[str, int, int]
"""A register, temp or slot of the frame: its number or offset, and the bytes of a slot."""
_State = dict[_Key, Value]
"""What is missing is a number."""
Place = tuple[BlockId, int]
"""A micro-op by its block and its index there."""


def address_bases(function: Function, arguments: Sequence[Argument]) -> Mapping[Place, int]:
    """For loads and stores whose address is one parameter, or the address of an object, plus numbers: the position of
    the parameter, or OBJECT. Empty if the function does what is not followed."""
    pointer = function.machine.convention.stack_pointer
    layout = function.machine.memory
    if pointer is None or layout is None or layout.address_bytes != _POINTER_BYTES:
        return {}
    blocks = function.blocks.values()
    if any(isinstance(block.exit, Switch) and outside_call(block.exit) is not None for block in blocks):
        return {}
    if any(op.kind is Kind.UNSUPPORTED for block in blocks for op in block.ops):
        return {}
    return _Flow(function, _at_entry(function, arguments, pointer)).found()


def _at_entry(function: Function, arguments: Sequence[Argument], pointer: str) -> _State:
    machine = function.machine
    state: _State = {_register(machine.container_positions[pointer]): Value(((_STACK, 1),), frozenset({_STACK}), 0)}
    for position, argument in enumerate(arguments):
        if argument.type.kind is not TypeKind.POINTER or len(argument.places) != 1:
            continue
        place = argument.places[0]
        value = Value(((position, 1),), frozenset({position}), 0)
        if place.size != _POINTER_BYTES or (place.register is not None and place.offset):
            continue
        if place.register is None:
            state["slot", place.offset, place.size] = value
        else:
            state[_register(machine.container_positions[place.register])] = value
    return state


def _register(position: int) -> _Key:
    return "register", position, 0


@dataclass
class _Flow:
    function: Function
    start: _State
    _stored: frozenset[int] = frozenset()
    """What values that were ever put into the frame are computed from."""
    _given: frozenset[int] = frozenset()
    """The same of memory outside the frame, and of what outside functions were given."""
    _is_lost: bool = False
    """Whether something was stored in the frame at an unknown place."""
    _notes: dict[Place, int] | None = field(default=None)

    def found(self) -> Mapping[Place, int]:
        before: object = None
        states: dict[BlockId, _State] = {}
        while before != (self._stored, self._given, self._is_lost):
            before = self._stored, self._given, self._is_lost
            states = self._solved()
        self._notes = {}
        ends = {b: self._block(self.function.blocks[b], dict(state)) for b, state in states.items()}
        unequal = self._where_unequal(ends)
        return {place: base for place, base in self._notes.items() if place[0] in unequal}

    def _where_unequal(self, ends: Mapping[BlockId, _State]) -> set[BlockId]:
        """The blocks that are reached without having found two addresses equal."""
        found = {self.function.entry}
        pending = [self.function.entry]
        while pending:
            block = self.function.blocks[pending.pop()]
            successors = {*block.successors} - self._where_equal(block, ends[block.id])
            pending += successors - found
            found |= successors
        return found

    def _where_equal(self, block: Block, state: _State) -> set[BlockId]:
        """The successors of a block that are reached, by what it decides there, if two addresses are equal."""
        decides = block.exit.condition if isinstance(block.exit, Branch) else None
        if isinstance(block.exit, Switch):
            decides = block.exit.value
        told = NUMBER if decides is None else self._read(state, decides)
        if _EQUALITY not in told.sources:
            return set()
        if not isinstance(block.exit, Branch) or told.constant is None:
            return {*block.successors}
        return {block.exit.then if told.constant else block.exit.otherwise}

    def _solved(self) -> dict[BlockId, _State]:
        states = {self.function.entry: self.start}
        pending = [self.function.entry]
        while pending:
            block = self.function.blocks[pending.pop()]
            state = self._block(block, dict(states[block.id]))
            for successor in block.successors:
                # Temps mean nothing outside their instruction.
                arriving = state if successor.part else {k: v for k, v in state.items() if k[0] != "temp"}
                known = states.get(successor)
                joined = arriving if known is None else _joined(known, arriving)
                if joined != known:
                    states[successor] = joined
                    pending.append(successor)
        return states

    def _block(self, block: Block, state: _State) -> _State:
        for number, op in enumerate(block.ops):
            self._step(op, (block.id, number), state)
        call = outside_call(block.exit)
        if call is not None:
            self._call(state, call.system)
        return state

    def _step(self, op: MicroOp, place: Place, state: _State) -> None:
        values = [self._read(state, var) for var in op.ins]
        if op.kind in (Kind.LOAD, Kind.STORE):
            self._note(place, values[0])
        if op.kind is Kind.STORE:
            self._store(state, values[0], values[1], op.ins[1].size)
        elif op.out is not None:
            value = self._load(state, values[0], op.out.size) if op.kind is Kind.LOAD else _computed(op, values)
            self._write(state, op.out, value)

    def _note(self, place: Place, address: Value) -> None:
        if self._notes is not None and address.base is not None and address.base != _STACK:
            self._notes[place] = address.base

    # -- registers ------------------------------------------------------------------------------

    def _read(self, state: _State, var: Var) -> Value:
        if var.space is Space.CONST:
            return replace(NUMBER, constant=var.offset % _MODULUS) if var.size == _POINTER_BYTES else NUMBER
        if var.space is Space.ADDRESS and var.size == _POINTER_BYTES and not is_distance(var):
            return Value(((OBJECT, 1),), frozenset({OBJECT}))
        if var.space is Space.TEMP:
            return state.get(("temp", var.offset, 0), NUMBER)
        if var.space is not Space.REGISTER:
            return NUMBER
        parts = self._parts(var)
        if len(parts) == 1 and parts[0][1]:
            return state.get(_register(parts[0][0]), NUMBER)
        return _mixed(state.get(_register(position), NUMBER) for position, _ in parts)

    def _write(self, state: _State, var: Var, value: Value) -> None:
        if var.space is Space.TEMP:
            state["temp", var.offset, 0] = value
            return
        parts = self._parts(var)
        for position, is_whole in parts:
            key = _register(position)
            exact = value if len(parts) == 1 else _mixed([value])
            state[key] = exact if is_whole else _mixed([state.get(key, NUMBER), value])

    def _parts(self, var: Var) -> list[tuple[int, bool]]:
        """The containers that a variable is in, and whether it is all of them."""
        machine = self.function.machine
        positions = dict.fromkeys(machine.containers_by_byte[b] for b in range(var.offset, var.offset + var.size))
        whole = machine.container_vars()
        return [
            (p, var.offset <= whole[p].offset and whole[p].offset + whole[p].size <= var.offset + var.size)
            for p in positions
        ]

    # -- memory ---------------------------------------------------------------------------------

    def _load(self, state: _State, where: Value, size: int) -> Value:
        offset = _frame_offset(where)
        if offset is None or self._is_lost:
            may_be_frame = _STACK in where.sources or _STACK in self._given
            return _mixed_of(self._given | (self._stored if may_be_frame else frozenset()))
        slots = [key for key in state if _overlaps(key, offset, size)]
        if slots == [("slot", offset, size)]:
            return state[slots[0]]
        return _mixed(state[key] for key in slots)

    def _store(self, state: _State, where: Value, value: Value, size: int) -> None:
        if _STACK not in where.sources:
            self._given |= value.sources
            self._is_lost |= _STACK in self._given
            return
        self._stored |= value.sources
        offset = _frame_offset(where)
        if offset is None:
            self._is_lost = True
            return
        for key in [key for key in state if _overlaps(key, offset, size)]:
            before = state.pop(key)
            if key[1] < offset or offset + size < key[1] + key[2]:
                state[key] = _mixed([before])
        if value.sources:
            state["slot", offset, size] = value

    def _call(self, state: _State, is_system: bool) -> None:
        """All that scratch registers and the frame hold counts as given to the callee: its arguments are among it."""
        machine = self.function.machine
        convention = machine.convention
        assert convention.stack_pointer is not None
        names = (*convention.scratch_after_call, *convention.result, *convention.float_result)
        keys = [_register(machine.container_positions[name]) for name in names]
        self._given |= self._stored.union(*(state.get(key, NUMBER).sources for key in keys))
        self._is_lost |= _STACK in self._given
        for key in keys:
            state[key] = _mixed_of(self._given)
        if not is_system:
            key = _register(machine.container_positions[convention.stack_pointer])
            adjustment = replace(NUMBER, constant=convention.stack_adjustment % _MODULUS)
            state[key] = _sum([(state.get(key, NUMBER), 1), (adjustment, 1)])


# -- values ---------------------------------------------------------------------------------------


def _computed(op: MicroOp, values: Sequence[Value]) -> Value:
    if not op.ins:
        return NUMBER  # undefined
    is_of_addresses = op.ins[0].size == _POINTER_BYTES
    if op.kind in (Kind.INT_EQUAL, Kind.INT_NOTEQUAL) and is_of_addresses and _may_be_two(*values):
        return _equality(op.kind is Kind.INT_EQUAL)
    if op.kind in _COMPARING:
        return _only_equality(values)
    assert op.out is not None
    if op.out.size == _POINTER_BYTES and all(var.size == _POINTER_BYTES for var in op.ins[:1]):
        found = _linear(op, values)
        if found is not None:
            return found
    if op.kind is Kind.SELECT:
        return _mixed(values) if _EQUALITY in values[0].sources else _either(values[1], values[2])
    if op.kind is Kind.BOOL_NEGATE and _EQUALITY in values[0].sources and values[0].constant is not None:
        return _equality(not values[0].constant)
    if op.kind is Kind.COPY and op.ins[0].size == op.out.size:
        return values[0]
    return _mixed(values)


def _equality(if_equal: bool) -> Value:
    return Value(None, frozenset({_EQUALITY}), int(if_equal))


def _only_equality(values: Iterable[Value]) -> Value:
    return _mixed_of(frozenset(s for value in values for s in value.sources if s == _EQUALITY))


def _may_be_two(one: Value, other: Value) -> bool:
    """Whether a comparison may be one of two addresses that are computed from different things. A number that is not
    known may be an address as well."""
    distance = _sum([(one, 1), (other, -1)])
    if len(distance.sources) != 1:
        return bool(distance.sources)
    compared = other if distance.factors is None else distance
    return compared.constant is None


def _linear(op: MicroOp, values: Sequence[Value]) -> Value | None:
    match op.kind:
        case Kind.COPY:
            return values[0]
        case Kind.INT_ADD:
            return _sum([(values[0], 1), (values[1], 1)])
        case Kind.INT_SUB:
            return _sum([(values[0], 1), (values[1], -1)])
        case Kind.INT_2COMP:
            return _sum([(values[0], -1)])
        case Kind.INT_LEFT if op.ins[1].space is Space.CONST and op.ins[1].offset < _BITS:
            return _sum([(values[0], 1 << op.ins[1].offset)])
        case Kind.INT_MULT:
            for value, other in (values, values[::-1]):
                if other.constant is not None and other.factors == ():
                    return _sum([(value, other.constant)])
    return None


def _sum(parts: Sequence[tuple[Value, int]]) -> Value:
    if any(value.factors is None for value, _ in parts):
        return _mixed(value for value, _ in parts)
    factors: dict[int, int] = {}
    for value, times in parts:
        for position, factor in value.factors or ():
            factors[position] = (factors.get(position, 0) + times * factor) % _MODULUS
    left = tuple(sorted((position, factor) for position, factor in factors.items() if factor))
    constant: int | None = 0
    for value, times in parts:
        known = constant is not None and value.constant is not None
        constant = (constant + times * value.constant) % _MODULUS if known else None  # type: ignore[operator]
    return Value(left, frozenset(position for position, _ in left), constant)


def _mixed(values: Iterable[Value]) -> Value:
    """Made of values in an unknown way."""
    return _mixed_of(frozenset().union(*(value.sources for value in values)))


def _mixed_of(sources: frozenset[int]) -> Value:
    """Whether an object's address had a part in it does not matter: what is added to a pointer is a number."""
    parameters = sources - {OBJECT}
    return Value(None, parameters) if parameters else NUMBER


def _either(one: Value, other: Value) -> Value:
    if one == other:
        return one
    if one.factors is not None and one.factors == other.factors:
        return replace(one, constant=None)
    return _mixed((one, other))


def _joined(one: _State, other: _State) -> _State:
    joined = {}
    for key in one.keys() | other.keys():
        # A temp that only one path sets is not read on the paths that do not set it.
        values = [side.get(key, NUMBER) for side in (one, other) if key[0] != "temp" or key in side]
        joined[key] = _either(values[0], values[-1])
    return joined


def _frame_offset(where: Value) -> int | None:
    """The distance from the stack pointer at entry, if it is known to be in the frame and where."""
    if where.base != _STACK or where.constant is None:
        return None
    return where.constant - (_MODULUS if where.constant >> (_BITS - 1) else 0)


def _overlaps(key: _Key, offset: int, size: int) -> bool:
    return key[0] == "slot" and key[1] < offset + size and offset < key[1] + key[2]
