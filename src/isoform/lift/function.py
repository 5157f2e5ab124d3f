"""A function: micro-ops in basic blocks, from one entry, with the calls it makes into present code inlined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from isoform.load.image import Image
from isoform.model.allocation import AllocationCall, LibraryCall
from isoform.model.contract import OutputCall, PureCall
from isoform.model.machine import Machine
from isoform.model.microop import Instruction, MicroOp, Space, Var, origin_of
from isoform.model.signature import CType, Signature
from isoform.model.values import dataclass


class BlockId(NamedTuple):
    """Where a block starts: the call sites through which it is inlined (their return addresses, outermost first), the
    instruction's address, and the index of the micro-op inside it where the block begins."""

    context: tuple[int, ...]
    address: int
    part: int


@dataclass(frozen=True)
class Goto:
    target: BlockId


@dataclass(frozen=True)
class Branch:
    condition: Var
    then: BlockId
    otherwise: BlockId


@dataclass(frozen=True)
class Switch:
    """A jump or call to a computed address with known candidates. Arriving anywhere else is `unresolved`: the
    engines must show it impossible before they claim anything."""

    value: Var
    targets: tuple[tuple[int, BlockId], ...]
    elsewhere: Call | None = None
    """For a call through a pointer whose known candidates are inlined: the call for all other addresses."""
    through: str = ""
    """As in `Call`, if it may be a tail call."""


@dataclass(frozen=True)
class Return:
    value: Var
    """The address returned to."""
    to: BlockId | None = None
    """In an inlined call: the block after the call; None if the function itself returns."""


class Unfolded(Enum):
    """The ends of the code that stands in the place of a call of the function to itself (`unfold.py`)."""

    ENTERED = "the code of the other side begins"
    LEFT = "it has returned: the two agree only in what the contract compares"
    OWN_LEFT = "the function's own code has returned"


@dataclass(frozen=True)
class Call:
    """A call to code that is not here."""

    callee: str | None
    """None: through a pointer, whose value is `value`."""
    value: Var
    then: BlockId | None
    """None: it never returns."""
    system: bool = False
    """Whether it is a system call, with the convention's rules for that."""
    present: bool = False
    """Whether the code is present but was not to be inlined: the name alone then says nothing about what it does."""
    carried_out: bool = False
    """Whether the blocks before it do what the callee does, with the result in place (`library.py`). What remains is
    the effect that every call has."""
    through: str = ""
    """For a call through a pointer: the pointer's declared type, a key of `Function.pointer_types`; "" if unknown."""
    pure: PureCall | None = None
    """What is known about a callee that only computes."""
    output: OutputCall | None = None
    """What is known about a callee that writes text."""
    allocation: AllocationCall | None = None
    """What is known about a callee that allocates or frees memory."""
    unfolded: Unfolded | None = None
    """For a call of the function to itself: if code stands in its place, which end of that code this is."""


@dataclass(frozen=True)
class Stop:
    """Nothing follows: the block ends in an ABORT or in something unsupported."""

    why: str = ""


def outside_call(exit_: Exit) -> Call | None:
    """The call to code that is not present with which a block may end."""
    return exit_.elsewhere if isinstance(exit_, Switch) else exit_ if isinstance(exit_, Call) else None


Exit = Goto | Branch | Switch | Return | Call | Stop


def exit_value(exit_: Exit) -> Var | None:
    """The value that the exit of a block depends on: a condition, or an address."""
    match exit_:
        case Branch(condition, _, _):
            return condition
        case Switch(value, _) | Return(value, _) | Call(_, value, _):
            return value
        case _:
            return None


def with_value(exit_: Exit, value: Var) -> Exit:
    """The same end, depending on another variable."""
    match exit_:
        case Branch():
            return replace(exit_, condition=value)
        case Switch(_, _, Call() as elsewhere):
            return replace(exit_, value=value, elsewhere=replace(elsewhere, value=value))
        case Switch() | Return() | Call():
            return replace(exit_, value=value)
        case _:
            return exit_


@dataclass(frozen=True)
class Listed:
    """The micro-ops of a block before simplification: everything that its instructions do."""

    ops: tuple[MicroOp, ...]
    addresses: tuple[int, ...]
    value: Var | None
    """The value that the exit depends on."""


@dataclass(frozen=True)
class Block:
    id: BlockId
    ops: tuple[MicroOp, ...]
    addresses: tuple[int, ...]
    """For each micro-op the address of its instruction."""
    steps: tuple[int, ...]
    """Addresses of the instructions that begin in this block, in order."""
    exit: Exit
    listed: Listed | None = None
    """None: it was not simplified."""

    @property
    def as_listed(self) -> Block:
        """The same block with a micro-op for every value that its instructions compute."""
        listed = self.listed
        if listed is None:
            return self
        exit_ = self.exit if listed.value is None else with_value(self.exit, listed.value)
        return replace(self, ops=listed.ops, addresses=listed.addresses, exit=exit_, listed=None)

    def in_order(self) -> Iterator[tuple[MicroOp, int, bool]]:
        """The micro-ops, their addresses, and whether each is the first of its instruction."""
        last = -1
        for op, address in zip(self.ops, self.addresses, strict=True):
            yield op, address, address != last
            last = address

    def extended(self, ops: Iterable[MicroOp], address: int, exit_: Exit) -> Block:
        """The block with more micro-ops, of the instruction at `address`, and another exit."""
        more = tuple(ops)
        where, listed = (address,) * len(more), self.listed
        if listed is not None:
            value = listed.value if exit_value(exit_) == exit_value(self.exit) else exit_value(exit_)
            listed = Listed((*listed.ops, *more), (*listed.addresses, *where), value)
        ops, addresses = (*self.ops, *more), (*self.addresses, *where)
        return replace(self, ops=ops, addresses=addresses, exit=exit_, listed=listed)

    @cached_property
    def successors(self) -> tuple[BlockId, ...]:
        match self.exit:
            case Goto(target):
                return (target,)
            case Branch(_, then, otherwise):
                return (then, otherwise) if then != otherwise else (then,)
            case Switch(_, targets, elsewhere):
                after = (elsewhere.then,) if elsewhere is not None and elsewhere.then is not None else ()
                return tuple(dict.fromkeys((*(block for _, block in targets), *after)))
            case Return(_, to):
                return () if to is None else (to,)
            case Call(_, _, then):
                return () if then is None else (then,)
            case Stop():
                return ()


class Bound(NamedTuple):
    """An access that is meant to be inside an object."""

    name: str
    ranges: tuple[tuple[int, int], ...]
    """Addresses; for a local variable, distances from the stack pointer at entry."""
    size: int
    """The size of the access."""
    is_local: bool
    is_store: bool
    is_sure: bool = True
    """Whether no other object can be meant. Otherwise a run that leaves the object shows no difference, but a proof
    must not exclude it."""
    meant_by: int | None = None
    """An address in the code that is meant for this object or for another one: all accesses relative to it are inside
    one of them, always the same one. A run that leaves each of them shows no difference."""

    @property
    def object_bytes(self) -> int:
        return sum(high - low for low, high in self.ranges)

    def __str__(self) -> str:
        verb = "writes" if self.is_store else "reads"
        return f"{verb} past {self.name} ({self.object_bytes} bytes)"

    def admits(self, address: int, stack_pointer: int) -> bool:
        origin = stack_pointer if self.is_local else 0
        return any(low <= address - origin <= high - self.size for low, high in self.ranges)


Hints = Mapping[int, frozenset[int]]
"""Targets of computed jumps and calls, by the instruction's address, that a formula or a run has found."""


@dataclass(frozen=True)
class Function:
    name: str
    image: Image
    machine: Machine
    entry: BlockId
    blocks: dict[BlockId, Block]
    instructions: dict[int, Instruction] = field(default_factory=dict)
    """Every decoded instruction by address, including those of inlined callees."""
    inlined: tuple[str, ...] = ()
    """Names of the callees that were inlined."""
    bounds: tuple[Bound, ...] = ()
    """The subjects of its ASSUMEs (`bounds.py`)."""
    written_out: frozenset[str] = frozenset()
    """Names of the library functions whose calls were expanded to loops (`library.py`)."""
    pointer_types: dict[str, Signature] = field(default_factory=dict)
    """Types of the functions that it calls through declared pointers (`pointers.py`)."""
    passed: tuple[tuple[str | None, int, CType], ...] = ()
    """What is known about its parameters' types."""
    never_returning: frozenset[str] = frozenset()
    """Names of outside functions that are assumed never to return because of what the other side shows."""
    library: tuple[LibraryCall, ...] = ()
    """The callees about which something is known (`known_calls.py`)."""
    refused: dict[int, str] = field(default_factory=dict)
    """Instructions, by address, that have semantics but are not followed, and why (`alignment.py`)."""
    assumes_alignment: bool = False
    """Whether an instruction needs an aligned address, and it is not known whether its address is aligned."""
    inlines: bool = True
    """Whether calls to code that is present became part of it."""
    hints: Hints = field(default_factory=dict)
    """The targets of computed jumps that it was lifted with."""
    alone: tuple[int, int] | None = None
    """For code that is in no file: the addresses from its start to its end."""

    @cached_property
    def as_listed(self) -> Function:
        """The function before it was simplified."""
        return replace(self, blocks={number: block.as_listed for number, block in self.blocks.items()})

    @cached_property
    def predecessors(self) -> dict[BlockId, tuple[BlockId, ...]]:
        found: dict[BlockId, list[BlockId]] = {block: [] for block in self.blocks}
        for block in self.blocks.values():
            for successor in block.successors:
                found[successor].append(block.id)
        return {block: tuple(before) for block, before in found.items()}

    @cached_property
    def order(self) -> tuple[BlockId, ...]:
        """Reverse post-order from the entry: topological wherever there is no loop."""
        seen = {self.entry}
        order: list[BlockId] = []
        stack = [(self.entry, iter(self.blocks[self.entry].successors))]
        while stack:
            block, successors = stack[-1]
            for successor in successors:
                if successor not in seen:
                    seen.add(successor)
                    stack.append((successor, iter(self.blocks[successor].successors)))
                    break
            else:
                order.append(block)
                stack.pop()
        return tuple(reversed(order))

    @cached_property
    def back_edges(self) -> frozenset[tuple[BlockId, BlockId]]:
        """Edges that go against `order`: there is a loop exactly if there is one of these."""
        position = {block: index for index, block in enumerate(self.order)}
        return frozenset(
            (block, successor)
            for block in self.order
            for successor in self.blocks[block].successors
            if position[successor] <= position[block]
        )

    @property
    def has_loop(self) -> bool:
        return bool(self.back_edges)

    @cached_property
    def writable_code(self) -> tuple[tuple[int, int], ...]:
        """Ranges of addresses that instructions are fetched from and that a store may change. If the program owns the
        whole memory of its machine, the zeros outside the program are such code too once control may get there."""
        ranges: list[tuple[int, int]] = []
        for address in sorted(self.instructions):
            if not self._may_be_written(address):
                continue
            end = max(self.instructions[address].next_address, address + self.machine.instruction_alignment)
            if ranges and ranges[-1][1] >= address:
                ranges[-1] = (ranges[-1][0], max(ranges[-1][1], end))
            else:
                ranges.append((address, end))
        return tuple(ranges)

    def _may_be_written(self, address: int) -> bool:
        section = self.image.section_at(address)
        if section is not None:
            return section.writable
        memory = self.machine.memory
        return memory is not None and memory.zeroed and memory.size is not None and address < memory.size

    @cached_property
    def code_bytes(self) -> bytes:
        """The machine code of everything reachable, in order of address: what a certificate is about."""
        return b"".join(
            self.image.code_at(address, self.instructions[address].length) for address in sorted(self.instructions)
        )


def named_objects(function: Function) -> Iterator[int]:
    """Starts of the objects whose addresses a linker puts into a function's code."""
    for instruction in function.instructions.values():
        for op in instruction.ops:
            yield from (origin_of(var) for var in op.ins if var.space is Space.ADDRESS)
