"""What a function leaves in its result registers where it returns, and for whom it was computed.

Compilers write no register for nothing: a value that nothing but the caller can read was computed for the caller.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from enum import Flag, IntEnum, auto
from functools import reduce
from operator import or_

from isoform.borders.moves import MOVES, ZERO, Trace, lanes_of, sets_above
from isoform.lift.cfg import control_flow_graph
from isoform.lift.function import Block, BlockId, Call, Function, Return, outside_call
from isoform.lift.liveness import Liveness, byte_of, output_containers, sources
from isoform.lift.returning import without_returns
from isoform.lift.simplify import overlaps
from isoform.model.microop import Kind, MicroOp, Space, Var, number_of
from isoform.model.values import dataclass

WIDE = 8
"""Bytes of the largest integer in one register."""
VECTOR = 16
"""Bytes of a vector register."""
_BITWISE = frozenset({Kind.INT_AND, Kind.INT_OR, Kind.INT_XOR, Kind.INT_NEGATE})


class ForCaller(IntEnum):
    """How strongly the code suggests that a register is written for the caller."""

    NONE = 0
    WEAK = 1
    """Nothing else reads the value, but the instruction was needed for something else as well."""
    STRONG = 2
    """The instruction has no other use."""


class Origin(Flag):
    """Where a byte of a register comes from."""

    ENTRY = auto()
    """It was there at entry."""
    CONSTANT = auto()
    ZERO = auto()
    """A constant zero."""
    ZEROED = auto()
    """The zeros above a value that is narrower than the register."""
    COMPUTED = auto()
    MASKED = auto()
    """Computed bit by bit in a whole vector register: how the sign of a scalar is changed as well."""
    CALL = auto()
    MOVED = auto()
    """It was moved between registers."""
    PLACED = auto()
    """It was moved to another lane of a vector register, from or to somewhere above the lowest 64 bits."""
    ADDED = auto()
    """An instruction that leaves the scalar below as it is has set it: nothing but a vector has a use for that."""
    LEFT_ABOVE = auto()
    """A byte below it was written alone and this one kept something that no constant explains. Of a truth value it
    is the only sign that the type is narrow: the size of what writes one (`setz al`) says nothing about its type."""


MADE = Origin.COMPUTED | Origin.MASKED
_CONSTANT = Origin.CONSTANT | Origin.ZERO | Origin.ZEROED
_VECTOR_MADE = MADE | Origin.PLACED | Origin.CONSTANT
HARMLESS = Origin.ENTRY | Origin.CALL | Origin.ZERO | Origin.ZEROED
"""What lies above 128 bits where no wider vector is returned."""


_Site = tuple[BlockId, int] | None
"""A micro-op in a block; None for a call, or for what was there at entry."""


@dataclass(frozen=True)
class Left:
    """What one function leaves in one register where it returns."""

    always: int
    """Low bytes that every path writes."""
    for_caller: ForCaller
    origins: tuple[Origin, ...]
    """For each byte, lowest first, all that it may be."""
    widths: frozenset[int]
    """Bytes of the values that are written there; 0 for a constant, whose width says nothing."""
    is_extended: bool
    """Whether an `int` is sign-extended to the whole register, which compilers do not do for an `int` result."""

    @property
    def makes_vector(self) -> bool:
        """Whether it may have made a vector of 128 bits: above 64 bits, or with a lane from above as the lowest."""
        return bool(self.origin(8, VECTOR) & _VECTOR_MADE or self.origin(0, 8) & Origin.PLACED)

    def adds(self, first: int, end: int) -> bool:
        """Whether it sets these bytes for the caller, and nothing below them."""
        return self.for_caller is ForCaller.STRONG and bool(self.origin(first, end) & Origin.ADDED)

    @property
    def is_byte(self) -> bool:
        """Whether what lies above the lowest byte is undefined on some path: its type has no more than a byte."""
        return bool(self.origin(1, 4) & Origin.LEFT_ABOVE)

    def origin(self, first: int, end: int) -> Origin:
        """All that the bytes from `first` to `end` may be."""
        return reduce(or_, self.origins[first:end])


@dataclass(frozen=True)
class _State:
    """Which writes, and which origins, may have made the registers what they are at some point."""

    sites: dict[str, frozenset[_Site]]
    origins: dict[int, Origin]
    """By byte of the register file; what is not there is as at entry."""


class AtReturn:
    """One function's registers where it returns. Works on the code as listed: simplified code no longer shows that a
    value was needed to make another one."""

    def __init__(self, function: Function, inline: bool, no_return: Collection[str]) -> None:
        self.name = function.name
        machine = function.machine
        self._machine = machine
        self._simplified = function
        listed = control_flow_graph(function.image, machine, function.name, function.entry.address, inline)
        self._function = without_returns(listed, no_return)
        convention = machine.convention
        self._registers = (*convention.result, *convention.float_result)
        self._own = _own_addresses(function)
        self._lanes = lanes_of(machine)
        containers = [machine.registers[name] for name in machine.containers]
        self._wholes = frozenset(var.offset for var in containers if 4 <= var.size <= WIDE)
        self._returned = self._at_returns()

    @property
    def narrowest(self) -> int:
        """Bytes of the narrowest number that the code handles in memory or a register, flags aside."""
        general = [self._machine.registers[name] for name in self._machine.convention.integer_arguments]
        general += [self._machine.registers[name] for name in self._machine.convention.result]
        sizes = [4]
        for block in self._function.blocks.values():
            truths: set[Var] = set()
            for op in block.ops:
                if _is_truth(op, truths, general):
                    truths.add(op.out)  # type: ignore[arg-type]  # what has a truth value has a result
                    continue
                used = [var for var in (op.out, *op.ins) if var is not None and _inside(var, general)]
                sizes += (var.size for var in used if var not in truths)
                truths -= {var for var in truths if op.out is not None and overlaps(var, op.out)}
                if op.kind is Kind.LOAD and op.out is not None:
                    sizes.append(op.out.size)
                elif op.kind is Kind.STORE:
                    sizes.append(op.ins[1].size)
        return min(sizes)

    @property
    def has_effects(self) -> bool:
        """Whether it may do anything but return: store outside its own frame, or call."""
        pointer = self._machine.convention.stack_pointer
        blocks = self._function.blocks.values()
        if pointer is None or any(outside_call(block.exit) is not None for block in blocks):
            return True
        frame = {self._machine.registers[pointer], *self._frame_pointers(self._machine.registers[pointer])}
        return any(_stores_outside(block, frame) for block in blocks)

    def _frame_pointers(self, pointer: Var) -> Iterator[Var]:
        """Callee-saved registers that are only ever copies of the stack pointer, or restored."""
        for name in self._machine.convention.callee_saved:
            register = self._machine.registers[name]
            ops = [op for b in self._function.blocks.values() for op in b.ops if op.out == register]
            copies = [op for op in ops if op.kind is Kind.COPY and op.ins[0] == pointer]
            others = [op for op in ops if op not in copies]
            if copies and all(op.kind in (Kind.COPY, Kind.LOAD) and op.ins[0].space is Space.TEMP for op in others):
                yield register

    def may_return(self, name: str) -> bool:
        """Whether a register that also carries an argument can be the result: it is set on all paths, or on none."""
        register = self._machine.registers[name]
        return not self._returned.sites[name] or self._always(register) > 0

    def has_numbers(self, size: int) -> bool:
        """Whether the code handles numbers of so many bytes in vector registers."""
        vectors = [self._machine.registers[name] for name in self._machine.convention.float_arguments]
        ops = (op for block in self._function.blocks.values() for op in block.ops)
        return any(
            var.size == size and _inside(var, vectors) for op in ops for var in (op.out, *op.ins) if var is not None
        )

    def writes(self, name: str) -> bool:
        """Whether the code itself, not only what it calls, may have set a register where it returns."""
        return bool(self._returned.sites[name] - {None})

    def left_in(self, name: str) -> Left:
        register = self._machine.registers[name]
        sites = [site for site in self._returned.sites[name] if site is not None]
        origins = tuple(
            self._returned.origins.get(register.offset + byte, Origin.ENTRY) for byte in range(register.size)
        )
        widths = frozenset(self._width(site) for site in sites)
        extended = any(self._op(site).kind is Kind.INT_SEXT for site in sites)
        return Left(self._always(register), self._for_caller(name, sites), origins, widths, extended)

    def above(self, name: str) -> Origin:
        """All that may be above 128 bits in a vector register."""
        first = self._machine.registers[name].offset
        bytes_ = range(first + VECTOR, first + self._machine.vector_bytes)
        return reduce(or_, (self._returned.origins.get(byte, Origin.ENTRY) for byte in bytes_), Origin.ENTRY)

    def _always(self, register: Var) -> int:
        sizes = (size for size in (8, 4, 2, 1) if size <= register.size)
        return next((s for s in sizes if always_written(self._simplified, register._replace(size=s))), 0)

    def _for_caller(self, name: str, sites: Sequence[tuple[BlockId, int]]) -> ForCaller:
        own = [site for site in sites if not site[0].context and self._address(site) in self._own]
        if not own:
            return ForCaller.NONE
        live = Liveness(self._function, output_containers(self._machine, self._others(name)))
        return max(self._use(live, site, name) for site in own)

    def _others(self, name: str) -> tuple[str, ...]:
        """The result registers that count as read when asking whether `name` is written for the caller: the second
        register of a pair is only used with the first one."""
        integer, floating = self._machine.convention.result, self._machine.convention.float_result
        if name in integer:
            return (*integer[: integer.index(name)], *floating)
        return (*integer, *floating[: floating.index(name)])

    def _use(self, live: Liveness, site: tuple[BlockId, int], name: str) -> ForCaller:
        block, index = self._function.blocks[site[0]], site[1]
        address = block.addresses[index]
        after = live.live_out(block)
        register = self._machine.registers[name]
        shared = False
        for number in range(len(block.ops) - 1, -1, -1):
            op = block.ops[number]
            needed = live.needed(op, after)
            if number == index and live.mask(op.out) & after:  # type: ignore[arg-type]  # a site writes a register
                return ForCaller.NONE
            if block.addresses[number] == address and needed and number != index:
                shared = shared or op.kind is Kind.STORE or _writes_other(op, register)
            if needed:
                after = live.before(op, after)
            if number < index and block.addresses[number] != address:
                break
        return ForCaller.WEAK if shared else ForCaller.STRONG

    def _address(self, site: tuple[BlockId, int]) -> int:
        return self._function.blocks[site[0]].addresses[site[1]]

    def _op(self, site: tuple[BlockId, int]) -> MicroOp:
        return self._function.blocks[site[0]].ops[site[1]]

    def _width(self, site: tuple[BlockId, int]) -> int:
        op = self._op(site)
        assert op.out is not None
        number = number_of(op.ins[0]) if op.kind in (Kind.INT_ZEXT, Kind.COPY) else None
        if number is not None:
            return WIDE if number >> 32 or op.ins[0].space is Space.ADDRESS else 0
        return op.ins[0].size if op.kind is Kind.INT_ZEXT else op.out.size

    # -- data flow ------------------------------------------------------------------------------

    def _at_returns(self) -> _State:
        function = self._function
        found: _State | None = None
        states = {function.entry: _State({name: frozenset() for name in self._registers}, {})}
        pending = [function.entry]
        while pending:
            block = function.blocks[pending.pop()]
            after = self._after(block, states[block.id])
            if isinstance(block.exit, Return) and block.exit.to is None:
                found = _joined(found, after)
            for successor in block.successors:
                joined = _joined(states.get(successor), after)
                if joined != states.get(successor):
                    states[successor] = joined
                    pending.append(successor)
        return found or _State({name: frozenset() for name in self._registers}, {})

    def _after(self, block: Block, before: _State) -> _State:
        sites, origins = dict(before.sites), dict(before.origins)
        temps: dict[int, Origin] = {}
        trace, current = Trace(), None
        for index, op in enumerate(block.ops):
            if op.out is None:
                continue
            if block.addresses[index] != current:
                self._mark(trace, origins)
                trace, current = Trace(), block.addresses[index]
            came = trace.step(op)
            values = _origins_of(op, origins, temps)
            if op.out.space is Space.REGISTER and op.out.offset in self._lanes:
                values = [
                    v | self._moved(op.out.offset + n, b) for n, (v, b) in enumerate(zip(values, came, strict=True))
                ]
            for byte, value in enumerate(values):
                (origins if op.out.space is Space.REGISTER else temps)[op.out.offset + byte] = value
            if op.out.size == 1 and op.out.space is Space.REGISTER and op.out.offset in self._wholes:
                _leave_above(op.out, origins)
            for name in self._registers:
                if op.out.space is Space.REGISTER and _covers(op.out, self._machine.registers[name].offset):
                    sites[name] = frozenset({(block.id, index)})
        self._mark(trace, origins)
        call = outside_call(block.exit)
        if call is not None and not call.carried_out:
            always = isinstance(block.exit, Call)  # else some of what it may call is here, and follows
            written = self._machine.convention.result[:1] if call.system else self._registers
            for name in written:
                sites[name] = frozenset({None}) if always else sites.get(name, frozenset()) | {None}
                register = self._machine.registers[name]
                size = self._machine.vector_bytes if register.offset in self._lanes else register.size
                for byte in range(register.offset, register.offset + size):
                    origins[byte] = Origin.CALL if always else origins.get(byte, Origin.ENTRY) | Origin.CALL
        return _State(sites, origins)

    def _mark(self, trace: Trace, origins: dict[int, Origin]) -> None:
        """Notes what an instruction sets above scalars that it leaves as they are."""
        for first in [byte for byte in trace.registers if self._lanes.get(byte) == 0]:
            for size in (4, 8, VECTOR):
                if sets_above(trace, self._lanes, first, size):
                    for byte in range(first + size, first + 2 * size):
                        origins[byte] = origins.get(byte, Origin.ENTRY) | Origin.ADDED

    def _moved(self, byte: int, came: int | None) -> Origin:
        """What is known of a byte of a vector register that one instruction moved there."""
        if came is None or came in (byte, ZERO):
            return Origin(0)
        lane, other = self._lanes[byte], self._lanes.get(came, 0)
        in_place = lane == other or max(lane, other) < WIDE
        return Origin.MOVED if in_place else Origin.MOVED | Origin.PLACED


def _own_addresses(function: Function) -> range:
    """The addresses of the function itself, without what it calls or jumps to."""
    start = function.entry.address
    size = next((s.size for s in function.image.symbols if s.address == start and s.size), 0)
    return range(start, start + size) if size else range(1 << 64)


def _joined(one: _State | None, other: _State) -> _State:
    if one is None:
        return other
    sites = {name: one.sites[name] | other.sites[name] for name in one.sites}
    bytes_ = one.origins.keys() | other.origins.keys()
    return _State(sites, {b: one.origins.get(b, Origin.ENTRY) | other.origins.get(b, Origin.ENTRY) for b in bytes_})


def _leave_above(byte: Var, origins: dict[int, Origin]) -> None:
    """Notes what stays above a byte that is written alone, up to the size of an `int`. If the register was set to a
    constant before, the byte is a part of a number whose other bytes are known."""
    for above in range(byte.offset + 1, byte.offset + 4):
        kept = origins.get(above, Origin.ENTRY)
        if kept & ~_CONSTANT:
            origins[above] = kept | Origin.LEFT_ABOVE


def _origins_of(op: MicroOp, registers: dict[int, Origin], temps: dict[int, Origin]) -> list[Origin]:
    assert op.out is not None
    if op.kind in MOVES:
        return [_origin(source, registers, temps) for source in sources(op)]
    if op.kind is Kind.INT_XOR and op.ins[0] == op.ins[1]:
        return [Origin.ZERO] * op.out.size
    if op.kind in _BITWISE and op.out.size >= VECTOR:
        return [Origin.MASKED] * op.out.size
    if op.kind in _BITWISE or op.kind is Kind.SELECT:
        values = op.ins[1:] if op.kind is Kind.SELECT else op.ins
        return [_bitwise([byte_of(var, n) for var in values], op.kind, registers, temps) for n in range(op.out.size)]
    return [Origin.COMPUTED] * op.out.size


def _bitwise(ins: Sequence[Var], kind: Kind, registers: dict[int, Origin], temps: dict[int, Origin]) -> Origin:
    """A byte computed from the same byte of each input: compilers combine truth values by an `or` of whole
    registers, so that what is undefined above them stays so. A constant zero, as in an `and` with 1, clears it."""
    if kind is Kind.INT_AND and any(var.space is Space.CONST and not var.offset for var in ins):
        return Origin.COMPUTED
    return Origin.COMPUTED | reduce(or_, (_origin(var, registers, temps) for var in ins)) & Origin.LEFT_ABOVE


def _origin(source: Var | None, registers: dict[int, Origin], temps: dict[int, Origin]) -> Origin:
    if source is None:
        return Origin.ZEROED
    if source.space in (Space.CONST, Space.ADDRESS):
        return Origin.CONSTANT if number_of(source) else Origin.ZERO
    if source.space is Space.TEMP:
        return temps.get(source.offset, Origin.COMPUTED)
    return registers.get(source.offset, Origin.ENTRY)


_TRUTHS = frozenset(
    {
        *(Kind.INT_EQUAL, Kind.INT_NOTEQUAL, Kind.INT_LESS, Kind.INT_LESSEQUAL, Kind.INT_SLESS, Kind.INT_SLESSEQUAL),
        *(Kind.BOOL_AND, Kind.BOOL_OR, Kind.BOOL_XOR, Kind.BOOL_NEGATE),
    }
)


def _is_truth(op: MicroOp, truths: set[Var], general: Sequence[Var]) -> bool:
    """Whether the result is 0 or 1 because it is a truth value, not a number of a narrow type."""
    if op.out is None or op.out.size != 1:
        return False
    if op.kind in _TRUTHS:
        return True
    source = op.ins[0] if op.kind is Kind.COPY else None
    return source is not None and (
        source in truths or (source.space is Space.REGISTER and not _inside(source, general))
    )


def _stores_outside(block: Block, frame: set[Var]) -> bool:
    known = set(frame)
    for op in block.ops:
        if op.kind is Kind.STORE and op.ins[0] not in known:
            return True
        if op.out is None or op.out in frame:
            continue
        in_frame = op.kind in (Kind.COPY, Kind.INT_ADD, Kind.INT_SUB) and op.ins[0] in known
        if in_frame and all(var.space is Space.CONST for var in op.ins[1:]):
            known.add(op.out)
        else:
            known -= {var for var in known if overlaps(var, op.out)}
    return False


def _covers(out: Var, byte: int) -> bool:
    return out.offset <= byte < out.offset + out.size


def _inside(var: Var, containers: Sequence[Var]) -> bool:
    return var.space is Space.REGISTER and any(_covers(container, var.offset) for container in containers)


def _writes_other(op: MicroOp, register: Var) -> bool:
    out = op.out
    return out is not None and out.space is Space.REGISTER and not _covers(register, out.offset)


def always_written(function: Function, part: Var) -> bool:
    """Whether every path to a return writes the whole of `part`. An outside call does: it may return something."""
    whole = (1 << part.size) - 1
    missing = {function.entry: whole}
    pending = [function.entry]
    while pending:
        block = function.blocks[pending.pop()]
        left = missing[block.id]
        for op in block.ops:
            left &= ~_bytes_written(op.out, part)
        if left and isinstance(block.exit, Return) and block.exit.to is None:
            return False
        call = outside_call(block.exit)
        for successor in block.successors:
            after = 0 if call is not None and successor == call.then else left
            if after & ~missing.get(successor, 0) or successor not in missing:
                missing[successor] = missing.get(successor, 0) | after
                pending.append(successor)
    return True


def _bytes_written(out: Var | None, part: Var) -> int:
    if out is None or out.space is not Space.REGISTER:
        return 0
    return sum(1 << i for i in range(part.size) if out.offset <= part.offset + i < out.offset + out.size)
