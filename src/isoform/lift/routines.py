"""The blocks of one routine, before inlining: which addresses begin one, where each ends, and the possible targets of
its computed jumps."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property, partial

from isoform.lift.decoding import Decoding
from isoform.lift.function import Hints
from isoform.lift.returning import Returning
from isoform.lift.simplify import Known, known_value, propagate
from isoform.lift.tables import jump_targets
from isoform.load.image import Symbol
from isoform.model.microop import CONTROL, Instruction, Kind, MicroOp, Space, Var, const, number_of
from isoform.model.values import dataclass

Position = tuple[int, int]
"""Instruction address and index of a micro-op in it."""


_NEAR_FUNCTIONS, _LARGEST_PADDING = 8, 64
"""How many functions before an address are looked at, and the bytes that alignment leaves between two at most."""


@dataclass(frozen=True)
class RawBlock:
    """A block of one routine, before inlining: positions instead of block ids."""

    ops: tuple[MicroOp, ...]
    addresses: tuple[int, ...]
    steps: tuple[int, ...]
    last: MicroOp | None
    """The control micro-op that ends it; None if it falls through, or stops (`next` is then None too)."""
    next: Position | None
    why: str = ""


@dataclass(frozen=True)
class Routine:
    entry: int
    blocks: dict[Position, RawBlock]
    targets: dict[Position, tuple[int, ...]]
    """Resolved targets of the computed jump or call at the end of a block."""
    certain: frozenset[Position]
    """Whether such a target is clearly the only one."""


class Routines:
    """The routines of one lifting, by their entries."""

    def __init__(self, decoding: Decoding, inline: bool, hints: Hints) -> None:
        image = self._image = decoding.image
        machine = self._machine = decoding.machine
        self._decoding = decoding
        self._inline = inline
        self._hints = hints
        self.returning = Returning(image, lambda address: machine.decode(image.code_at(address), address))
        self._routines: dict[int, Routine] = {}
        self._routine_entries: set[int] = set()

    def routine(self, entry: int) -> Routine:
        if entry not in self._routines:
            self._routine_entries.add(entry)
            self._routines[entry] = self._build_routine(entry)
        return self._routines[entry]

    def _build_routine(self, entry: int) -> Routine:
        """Find leaders, cut blocks, resolve computed jumps; repeat while that finds new code."""
        targets: dict[Position, tuple[int, ...]] = {}
        extra: set[Position] = set()
        while True:
            self._decoding.spend()
            leaders = self._leaders(entry, extra)
            blocks = {leader: self._cut(leader, leaders) for leader in sorted(leaders)}
            found, certain = self._resolve(blocks, {(entry, 0), *extra})
            new = {
                (self.real(target), 0)
                for position, resolved in found.items()
                for target in resolved
                if self._is_jump(blocks[position]) and self._image.code_at(self.real(target))
            }
            targets = found
            if new <= extra:
                return Routine(entry, blocks, targets, certain)
            extra |= new

    def _is_jump(self, raw: RawBlock) -> bool:
        return raw.last is not None and raw.last.kind is Kind.BRANCHIND

    def _leaders(self, entry: int, extra: set[Position]) -> set[Position]:
        leaders = {(entry, 0), *extra}
        pending = list(leaders)
        walked: set[Position] = set()
        while pending:
            position: Position | None = pending.pop()
            while position is not None and position not in walked:
                walked.add(position)
                found, position = self._walk(position)
                for leader in found:
                    if leader not in leaders:
                        leaders.add(leader)
                        pending.append(leader)
        return leaders

    def _walk(self, position: Position) -> tuple[list[Position], Position | None]:
        """Leaders within the rest of one instruction, and the fall-through target."""
        address, index = position
        instruction = self._decoding.decode(address)
        leaders: list[Position] = []
        for number in range(index, len(instruction.ops)):
            op = instruction.ops[number]
            after = self._after(instruction, number + 1)
            if op.kind is Kind.BRANCH:
                if (target := self.target(instruction, op.ins[0])) is not None:
                    leaders.append(target)
                return leaders, None
            if op.kind is Kind.CBRANCH:
                if (target := self.target(instruction, op.ins[0])) is not None:
                    leaders.append(target)
                leaders.append(after)
                return leaders, None
            if op.kind in (Kind.CALL, Kind.CALLIND, Kind.SYSTEM):
                if not self._never_returns(op, address, after):
                    leaders.append(after)
                return leaders, None
            if op.kind in (Kind.RETURN, Kind.BRANCHIND, Kind.UNSUPPORTED) or _stops(op):
                return leaders, None
        return leaders, (instruction.next_address, 0)

    def _after(self, instruction: Instruction, index: int) -> Position:
        if index >= len(instruction.ops):
            return instruction.next_address, 0
        return instruction.address, index

    def target(self, instruction: Instruction, target: Var) -> Position | None:
        """The target of a branch inside present code; None if it leaves it (a tail call)."""
        if target.space is Space.INNER:
            return self._after(instruction, target.offset)
        return None if self.outside_name(target.offset) is not None else (self.real(target.offset), 0)

    def real(self, address: int) -> int:
        """The address of the code that is known under `address`."""
        return self._image.aliases.get(address, address)

    def outside_name(self, address: int) -> str | None:
        """The function that a jump to `address` goes to; None if it stays in this one."""
        address = self.real(address)
        if address in self._image.externals:
            return self._image.externals[address]
        symbol = None if self._inline else self.function_around(address)
        if symbol is None or symbol.address != address or address in self._routine_entries:
            return None
        return None if _is_part(symbol, self._decoding.name) else symbol.name

    def _never_returns(self, op: MicroOp, address: int, after: Position) -> bool:
        if op.kind is Kind.SYSTEM or self._machine.convention.stack_pointer is None:
            return False
        name = self._image.externals.get(self.real(op.ins[0].offset)) if op.kind is Kind.CALL else None
        if name is None:
            return self.returning.nothing_follows(address, after[0])
        return not self.returning.comes_back(name, address, after[0])

    def _cut(self, leader: Position, leaders: set[Position]) -> RawBlock:
        """The block from `leader` to the next control micro-op or leader."""
        ops: list[MicroOp] = []
        addresses: list[int] = []
        steps: list[int] = []
        position = leader
        while True:
            instruction = self._decoding.decode(position[0])
            if position[1] == 0:
                steps.append(instruction.address)
            for number in range(position[1], len(instruction.ops)):
                op = instruction.ops[number]
                if number != position[1] and (instruction.address, number) in leaders:
                    return RawBlock(tuple(ops), tuple(addresses), tuple(steps), None, (instruction.address, number))
                if op.kind in CONTROL:
                    after = self._after(instruction, number + 1)
                    return RawBlock(tuple(ops), tuple(addresses), tuple(steps), op, after)
                ops.append(op)
                addresses.append(instruction.address)
                if op.kind is Kind.UNSUPPORTED or _stops(op):
                    return RawBlock(tuple(ops), tuple(addresses), tuple(steps), None, None, instruction.text)
            position = (instruction.next_address, 0)
            if position in leaders:
                return RawBlock(tuple(ops), tuple(addresses), tuple(steps), None, position)

    def _resolve(
        self, blocks: dict[Position, RawBlock], entries: set[Position]
    ) -> tuple[dict[Position, tuple[int, ...]], frozenset[Position]]:
        computed = {
            position: raw
            for position, raw in blocks.items()
            if raw.last is not None and raw.last.kind in (Kind.BRANCHIND, Kind.CALLIND)
        }
        if not computed:
            return {}, frozenset()
        constants = self._constants_at_entry(blocks, entries)
        found = {position: self._resolve_one(raw, constants.get(position, {})) for position, raw in computed.items()}
        certain = frozenset(position for position, (_, is_certain) in found.items() if is_certain)
        return {position: targets for position, (targets, _) in found.items()}, certain

    def _resolve_one(self, raw: RawBlock, known: Known) -> tuple[tuple[int, ...], bool]:
        """The targets, and whether the address is a constant, so that there are no others."""
        assert raw.last is not None
        given = [MicroOp(Kind.COPY, var, (value,)) for var, value in known.items()]
        after = dict(known)
        ops = [*given, *propagate(raw.ops, self._image, after)]
        constant = known_value(raw.last.ins[0], after)
        number = number_of(constant)
        if number is not None:
            return (number,), True
        plausible = partial(self._plausible_target, raw.steps[0] if raw.steps else raw.addresses[0])
        found = jump_targets(ops, raw.last.ins[0], self._image, plausible) or []
        self._decoding.guessed |= len(found) > 1
        hinted = sorted(self._hints.get(raw.steps[-1] if raw.steps else raw.addresses[-1], ()))
        return tuple(dict.fromkeys([*found, *hinted])), False

    def _plausible_target(self, here: int, target: int) -> bool:
        """Whether a table of the function around `here` may plausibly contain `target`. The next table in the file
        often follows without a gap, and its entries are nonsense when read as entries of this one."""
        section = self._image.section_at(here)
        if section is None or not section.address <= target < section.end:
            return False
        own, other = self.function_around(here), self.function_around(target)
        if own is not None and other is None:
            return not self._is_padding(target)
        if own is None or other is None or own == other or other.address == target:
            return True
        return _is_part(other, own.name)

    def _is_padding(self, address: int) -> bool:
        """Whether an address is in a small gap between two functions, as alignment leaves."""
        starts, ordered = self._functions
        index = bisect_right(starts, address)
        if not 0 < index < len(starts):
            return False
        end = max(one.address + one.size for one in ordered[:index][-_NEAR_FUNCTIONS:])
        return end <= address < starts[index] < end + _LARGEST_PADDING

    @cached_property
    def _functions(self) -> tuple[list[int], list[Symbol]]:
        ordered = sorted((s for s in self._image.symbols if s.is_function), key=lambda s: s.address)
        return [s.address for s in ordered], ordered

    def function_around(self, address: int) -> Symbol | None:
        starts, ordered = self._functions
        index = bisect_right(starts, address) - 1
        found = ordered[index] if index >= 0 else None
        return found if found is not None and address < found.address + max(found.size, 1) else None

    def _constants_at_entry(self, blocks: dict[Position, RawBlock], starts: set[Position]) -> dict[Position, Known]:
        """Registers that hold the same constant on every path to a block (forward data flow). Nothing is known at
        `starts`: the entry and the targets of computed jumps."""
        entries: dict[Position, Known] = {position: {} for position in starts}
        pending = list(starts)
        while pending:
            position = pending.pop()
            raw = blocks[position]
            known = dict(entries[position])
            propagate(raw.ops, self._image, known)
            if raw.last is not None and raw.last.kind in (Kind.CALL, Kind.CALLIND, Kind.SYSTEM):
                known = {}
            known = {v: c for v, c in known.items() if number_of(c) is not None and v.space is Space.REGISTER}
            for successor in self._raw_successors(raw):
                if successor not in blocks:
                    continue
                merged = _meet(entries.get(successor), known)
                if merged != entries.get(successor):
                    entries[successor] = merged
                    pending.append(successor)
        return entries

    def _raw_successors(self, raw: RawBlock) -> Iterator[Position]:
        if raw.last is None:
            if raw.next is not None:
                yield raw.next
            return
        if raw.last.kind in (Kind.BRANCH, Kind.CBRANCH) and raw.next is not None:
            instruction = self._decoding.decode(raw.steps[-1] if raw.steps else raw.addresses[-1])
            target = self.target(instruction, raw.last.ins[0])
            if target is not None:
                yield target
        if raw.last.kind in (Kind.CBRANCH, Kind.CALL, Kind.CALLIND, Kind.SYSTEM) and raw.next is not None:
            yield raw.next


def _is_part(symbol: Symbol, name: str) -> bool:
    """Whether a compiler split this off from the function `name` (`f.cold`, `f.part.0`)."""
    return symbol.name.startswith(f"{name}.")


def _stops(op: MicroOp) -> bool:
    return op.kind is Kind.ABORT and op.ins[0] == const(1, 1)


def _meet(old: Known | None, new: Known) -> Known:
    if old is None:
        return dict(new)
    return {var: value for var, value in old.items() if new.get(var) == value}
