"""Where the named data of one or two object files goes.

A block is a stretch of one file's data that moves as a whole, so that any address computed from any part of
it stays right. Objects of the same name must have the same address on both sides. Blocks start as whole
sections. Blocks of the two sides that share names are placed one over the other if all names agree. Otherwise
they are split into their objects, so that each object can go where its namesake goes.
"""

from __future__ import annotations

import itertools
import re
import string
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property

from isoform.load.parsed import COMMON_SECTION, FUNCTION, LOCAL, NOTYPE, OBJECT, FileSection, FileSymbol, ParsedFile
from isoform.load.section_names import is_referred_to
from isoform.model.errors import UserError
from isoform.model.linkage import Formula
from isoform.model.values import dataclass

Key = tuple[Hashable, ...]
NAMELESS, INNER = "nameless", "inner"
OVERLAP_LIMIT = 64
"""More symbols than this over the same bytes are not compared one by one."""
_NUMBER = re.compile(r"(?<=[^.])\.\d+$")
TEXT_BYTES = string.printable.encode() + b"\0"
PADDING_LIMIT = 64
"""A nameless run of zeros shorter than this between two objects is padding."""


@dataclass(frozen=True)
class BlockPart:
    """An object, or nameless contents, at an offset in its block."""

    key: Key
    start: int
    end: int

    @property
    def named(self) -> bool:
        return self.key[0] not in (NAMELESS, INNER)

    @property
    def inner(self) -> bool:
        """Jump tables and literals. No address in here is visible outside the function that uses it, so the place does
        not matter. (The addresses of literals are shared by content instead: see `relocatable/literals.py`.)"""
        return self.key[0] == INNER


@dataclass
class DataBlock:
    side: int
    section: int
    """Section index; for a common symbol, minus one minus its symbol index."""
    start: int
    """Offset in the section."""
    end: int
    alignment: int
    parts: list[BlockPart]
    """In order. Parts overlap only if they are two names of the same bytes. Offsets are from the block's start."""
    whole: bool
    """Whether the block is its whole section."""
    address: int = 0
    origin: int = 0
    room: int = 0
    """Start and size of everything that moves together with it, on both sides. The start lies below every object in it,
    so that an object with an origin of its own is not mistaken for the whole."""
    origin_alignment: int = 1
    skipped: int = 0
    """Bytes below all objects."""
    torn: bool = False
    """Whether some name in it could not be given the address of its namesake."""

    @property
    def size(self) -> int:
        return self.end - self.start

    def part_at(self, offset: int) -> BlockPart | None:
        """The part around an offset from the block's start; of several names for one place, one of them."""
        index = bisect_right(self.parts, offset, key=lambda p: p.start) - 1
        for part in reversed(self.parts[max(0, index - OVERLAP_LIMIT) : index + 1]):
            if part.start <= offset < part.end:
                return part
        return None


@dataclass
class Region:
    """Hands out addresses from `start` up."""

    start: int
    limit: int
    next: int = field(default=0)

    def __post_init__(self) -> None:
        self.next = self.start

    def take(self, size: int, alignment: int) -> int:
        """An address with room for `size` bytes and a gap after it, so that one past the end is no other object."""
        alignment = max(alignment, 16)
        address = -(-self.next // alignment) * alignment
        self.next = address + size + 16
        if self.next > self.limit:
            raise UserError("the two files are too large to be placed in one address space of 2 GiB.")
        return address


def is_name(name: str) -> bool:
    """Whether this is a name the programmer gave (assemblers' own labels start with `.L`)."""
    return bool(name) and not name.startswith(".L")


def object_keys(file: ParsedFile) -> dict[int, Key]:
    """Key of every named data symbol by symbol index. A local name loses what compilers add to it (`x.0`,
    `f.x`) where no other name of the file would become the same."""
    return plain_keys(file, {index: s for index, s in enumerate(file.symbols) if _is_data(file, s)})


def plain_keys(file: ParsedFile, named: Mapping[int, FileSymbol]) -> dict[int, Key]:
    """Keys of the symbols whose names are unique among these."""
    functions = {s.name for s in file.symbols if s.kind == FUNCTION}
    plain = {index: _plain(s, functions) for index, s in named.items()}
    uses = Counter(plain.values())
    uses_full = Counter(s.name for s in named.values())
    keys: dict[int, Key] = {}
    for index, symbol in named.items():
        if uses[plain[index]] == 1:
            keys[index] = ("object", plain[index])
        elif uses_full[symbol.name] == 1 and not is_numbered(symbol):
            keys[index] = ("object", symbol.name)
    return keys


def is_numbered(symbol: FileSymbol) -> bool:
    """Whether the compiler numbered a local variable: several functions have a variable of that name, and the numbers
    may differ at another optimisation level."""
    return symbol.binding == LOCAL and _NUMBER.search(symbol.name) is not None


def _plain(symbol: FileSymbol, functions: set[str]) -> str:
    name = symbol.name
    if symbol.binding != LOCAL:
        return name
    name = _NUMBER.sub("", name)
    head, _, tail = name.partition(".")
    return tail if tail and head in functions else name


def _is_data(file: ParsedFile, symbol: FileSymbol) -> bool:
    if not is_name(symbol.name):
        return False
    if symbol.section == COMMON_SECTION:
        return True
    section = file.sections.get(symbol.section)
    if section is None or section.executable or section.thread_local:
        return False
    return symbol.kind in (OBJECT, NOTYPE) and symbol.value <= section.size


def is_data_section(section: FileSection) -> bool:
    """Data that code refers to: not code, not thread-local, not what only an unwinder or linker reads."""
    return not section.executable and not section.thread_local and is_referred_to(section.name)


def blocks_of(file: ParsedFile, side: int) -> list[DataBlock]:
    """The blocks to start from: whole sections, common symbols, and the named objects of mergeable sections
    (whose nameless contents are shared by content)."""
    keys = object_keys(file)
    by_section: dict[int, list[BlockPart]] = {}
    blocks: list[DataBlock] = []
    for index, symbol in enumerate(file.symbols):
        if not _is_data(file, symbol):
            continue
        key = keys.get(index, ("local", side, index))
        if symbol.section == COMMON_SECTION:
            alignment = symbol.value if 0 < symbol.value <= 4096 and not symbol.value & (symbol.value - 1) else 16
            blocks.append(
                DataBlock(side, -1 - index, 0, symbol.size, alignment, [BlockPart(key, 0, symbol.size)], True)
            )
        else:
            part = BlockPart(key, symbol.value, symbol.value + symbol.size)
            by_section.setdefault(symbol.section, []).append(part)
    for section in file.sections.values():
        if is_data_section(section):
            relocated = _relocated(file, section)
            parts = _parts(section, by_section.get(section.index, []), relocated, side)
            block = DataBlock(side, section.index, 0, section.size, section.alignment, parts, True)
            blocks.extend(_named_pieces(block) if section.mergeable and not relocated else [block])
    return blocks


def _relocated(file: ParsedFile, section: FileSection) -> dict[int, int]:
    """Offset of every relocated field, with its width if it refers to code (else 0)."""
    fields = {}
    for relocation in file.relocations.get(section.index, ()):
        home = (
            file.sections.get(file.symbols[relocation.symbol].section)
            if relocation.symbol < len(file.symbols)
            else None
        )
        rule = file.linkage.rule(relocation.kind)
        is_entry = rule.is_pointer or (rule.formula is Formula.RELATIVE and rule.width == 4 and not rule.is_branch)
        fields[relocation.offset] = rule.width if is_entry and home is not None and home.executable else 0
    return dict(sorted(fields.items()))


def _parts(
    section: FileSection, named: Iterable[BlockPart], relocated: Mapping[int, int], side: int
) -> list[BlockPart]:
    """Named parts in order, with nameless contents between them. A label without a size extends to what follows."""
    ordered = sorted(named, key=lambda p: (p.start, -p.end))
    starts = sorted({p.start for p in ordered} | {section.size})
    offsets = list(relocated)
    parts: list[BlockPart] = []
    covered = 0

    def add_nameless(start: int, end: int) -> None:
        inside = offsets[bisect_left(offsets, start) : bisect_left(offsets, end)]
        if start < end and (inside or not _is_padding(section, start, end)):
            kind = INNER if _is_inner(section, start, end, {o: relocated[o] for o in inside}) else NAMELESS
            parts.append(BlockPart((kind, side, section.index, start), start, end))

    for part in ordered:
        add_nameless(covered, part.start)
        end = part.end
        if end == part.start and end >= covered:
            end = starts[bisect_right(starts, end)] if end < section.size else end
        parts.append(BlockPart(part.key, part.start, end))
        covered = max(covered, end)
    add_nameless(covered, section.size)
    return parts


def _is_padding(section: FileSection, start: int, end: int) -> bool:
    return end - start < PADDING_LIMIT and not any(section.data[start:end]) and start > 0


def _is_inner(section: FileSection, start: int, end: int, relocated: Mapping[int, int]) -> bool:
    """Whether constants consist only of places in code, text, and zeros."""
    if section.writable or not all(relocated.values()):
        return False
    gaps = []
    for offset, width in relocated.items():
        gaps.append(section.data[start:offset])
        start = offset + width
    gaps.append(section.data[start:end])
    return not any(gap.translate(None, TEXT_BYTES) for gap in gaps)


def _named_pieces(block: DataBlock) -> list[DataBlock]:
    return [piece for piece in split(block) if any(p.named for p in piece.parts)]


def split(block: DataBlock) -> list[DataBlock]:
    """The block's objects as blocks of their own. Parts that overlap stay together. A label at the very end of an
    object stays with it."""
    groups: list[list[BlockPart]] = []
    covered = -1
    for part in block.parts:
        is_end_mark = part.start == part.end == covered
        if groups and (part.start < covered or is_end_mark):
            groups[-1].append(part)
        else:
            groups.append([part])
        covered = max(covered, part.end)
    return [_piece(block, group) for group in groups]


def _piece(block: DataBlock, group: list[BlockPart]) -> DataBlock:
    start, end = group[0].start, max(p.end for p in group)
    offset = block.start + start
    alignment = min(block.alignment, offset & -offset) if offset else block.alignment
    parts = [BlockPart(p.key, p.start - start, p.end - start) for p in group]
    return DataBlock(block.side, block.section, offset, block.start + end, alignment, parts, False)


def place_blocks(blocks: Sequence[DataBlock], region: Region) -> list[DataBlock]:
    """Give every block its address; blocks are split where they must be."""
    placed: list[DataBlock] = []
    for component in _components(blocks):
        positions = _overlay(component)
        if positions is not None:
            placed.extend(_put(component, positions, region))
            continue
        for piece in _components([piece for block in component for piece in split(block)]):
            positions = _overlay(piece)
            if positions is None:
                for block in piece:
                    block.torn = True
                    placed.extend(_put([block], [0], region))
            else:
                placed.extend(_put(piece, positions, region))
    return placed


def _put(component: list[DataBlock], positions: list[int], region: Region) -> Iterator[DataBlock]:
    lowest = min(positions)
    highest = max(p + b.size for p, b in zip(positions, component, strict=True))
    alignment = max(b.alignment for b in component)
    origin = lowest // alignment * alignment - alignment
    base = region.take(highest - origin, alignment) - origin
    for block, position in zip(component, positions, strict=True):
        block.address = base + position
        block.origin, block.room, block.skipped = base + origin, highest - origin, lowest - origin
        distance = position - origin
        block.origin_alignment = min(block.alignment, distance & -distance)
        yield block


def _components(blocks: Sequence[DataBlock]) -> list[list[DataBlock]]:
    """Blocks connected by names they share."""
    leader = list(range(len(blocks)))

    def find(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]
            index = leader[index]
        return index

    first: dict[Key, int] = {}
    for index, block in enumerate(blocks):
        for part in block.parts:
            leader[find(index)] = find(first.setdefault(part.key, index))
    groups: dict[int, list[DataBlock]] = {}
    for index, block in enumerate(blocks):
        groups.setdefault(find(index), []).append(block)
    return list(groups.values())


def _overlay(component: list[DataBlock]) -> list[int] | None:
    """Positions of connected blocks at which equal names coincide and nothing else does; None if there are none."""
    if len(component) == 1:
        return [0]
    root = max(range(len(component)), key=lambda i: component[i].alignment)
    homes: dict[Key, list[tuple[int, int]]] = {}
    for index, block in enumerate(component):
        for part in block.parts:
            homes.setdefault(part.key, []).append((index, part.start))
    positions: dict[int, int] = {root: 0}
    waiting = [root]
    while waiting:
        index = waiting.pop()
        for part in component[index].parts:
            for other, start in homes[part.key]:
                position = positions[index] + part.start - start
                if other not in positions:
                    positions[other] = position
                    waiting.append(other)
                elif positions[other] != position:
                    return None
    found = [positions[i] for i in range(len(component))]
    misaligned = any(position % block.alignment for position, block in zip(found, component, strict=True))
    return None if misaligned or _collides(component, found) else found


def _collides(component: list[DataBlock], positions: list[int]) -> bool:
    """Whether two blocks of one side overlap, or a part of one side overlaps another part of the other."""
    by_side: dict[int, list[tuple[int, int]]] = {}
    spans: list[tuple[int, int, Key, int]] = []
    for block, position in zip(component, positions, strict=True):
        by_side.setdefault(block.side, []).append((position, position + block.size))
        seen = [p for p in block.parts if p.end > p.start and not p.inner]
        spans.extend((position + p.start, position + p.end, p.key, block.side) for p in seen)
    for extents in by_side.values():
        extents.sort()
        if any(later[0] < earlier[1] for earlier, later in itertools.pairwise(extents)):
            return True
    homes = {(start, key, side) for start, _, key, side in spans}
    shared = {(start, key) for start, key, side in homes if (start, key, 1 - side) in homes}
    spans.sort(key=lambda span: span[0])
    open_until: list[tuple[int, int, Key, int]] = []
    for span in spans:
        open_until = [other for other in open_until if other[1] > span[0]]
        if len(open_until) > OVERLAP_LIMIT:
            return True
        for other in open_until:
            if other[3] != span[3] and not _same_object(other, span, shared):
                return True
        open_until.append(span)
    return False


def _same_object(
    left: tuple[int, int, Key, int], right: tuple[int, int, Key, int], shared: set[tuple[int, Key]]
) -> bool:
    """Two spans of different sides may overlap if they are one object, or one is another name of the other's bytes."""
    if left[2] == right[2]:
        return left[0] == right[0]
    return left[0] == right[0] and (left[0], left[2]) in shared and (right[0], right[2]) in shared


@dataclass(frozen=True)
class PlacedData:
    """Addresses of one side's data sections."""

    blocks: Sequence[DataBlock]

    @cached_property
    def _by_section(self) -> dict[int, tuple[list[int], list[DataBlock]]]:
        found: dict[int, list[DataBlock]] = {}
        for block in self.blocks:
            found.setdefault(block.section, []).append(block)
        ordered = {section: sorted(group, key=lambda b: b.start) for section, group in found.items()}
        return {section: ([b.start for b in group], group) for section, group in ordered.items()}

    def of_section(self, section: int) -> list[DataBlock]:
        return self._by_section.get(section, ([], []))[1]

    def around(self, section: int, offset: int) -> DataBlock | None:
        """The block that contains `offset`, else the one that ends there. A whole section contains every offset."""
        starts, group = self._by_section.get(section, ([], []))
        if len(group) == 1 and group[0].whole:
            return group[0]
        index = bisect_right(starts, offset) - 1
        return group[index] if index >= 0 and offset <= group[index].end else None

    def before(self, block: DataBlock) -> DataBlock | None:
        """The piece of a split block that ends where this one starts."""
        starts, group = self._by_section[block.section]
        index = bisect_right(starts, block.start) - 1
        return group[index - 1] if index and group[index - 1].end == block.start else None
