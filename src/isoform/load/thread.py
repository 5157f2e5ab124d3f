"""Thread-local storage: the places of the thread-local objects of a question, and what stands for the loader's part.

There is one thread. isoform places its thread pointer, and thread-local objects below it, at numbers, so that code can
run. As with other objects, nothing is proved from these numbers: each is a `PlacedObject` whose address is not known,
and a distance from the thread pointer is the difference of two addresses. The access models (a distance in the code,
one in the global offset table, `__tls_get_addr`, a descriptor) differ only in how the distance is found.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import field, replace

from isoform.load.blocks import is_name, plain_keys
from isoform.load.image import Section
from isoform.load.objects import PlacedObject
from isoform.load.parsed import THREAD_LOCAL, UNDEFINED_SECTION, FileSymbol, ParsedFile
from isoform.model.linkage import Dynamic
from isoform.model.machine import Order
from isoform.model.outcome import THREAD_POINTER
from isoform.model.values import dataclass

GET_ADDRESS = "__tls_get_addr"
MODULE_BASE = "_TLS_MODULE_BASE_"
"""Start of the thread-local data of an object file: distances in the code are relative to it."""
MODULE = 1
"""The number of the one module. It is only ever passed to `__tls_get_addr`, so any number will do."""
ALIGNMENT = 64
MOST_ALIGNMENT = THREAD_POINTER & -THREAD_POINTER
"""isoform's own placement has no larger alignment than this, so that none is mistaken for known."""
EXTERNAL_ROOM = 1 << 16
"""Bytes for an object that neither file defines."""
CONTROL_ROOM = 1 << 12
"""Bytes from the thread pointer at which isoform places nothing: the thread's control block, of unknown size."""
_SKIPPED = 16
"""Bytes below the thread-local data of a shared library at which isoform places nothing."""
CONTROL_ALIGNMENT = 8
"""The thread pointer points to a pointer. C libraries align it further, each in its own way."""
MOST_OBJECTS = 4096
LIMIT = 1 << 30
"""Distances must fit into 32 bits with a sign."""

Key = Hashable


class ThreadConflictError(Exception):
    """Two objects cannot both be where their files have them. The message completes a sentence about the file."""


@dataclass(frozen=True)
class ThreadObject:
    """Thread-local bytes of one file that symbols name. Symbols that overlap are names of one of these."""

    key: Key
    section: int
    start: int
    """Offset in the section; in a linked file, in the whole of its thread-local data."""
    size: int
    symbols: tuple[tuple[Key, FileSymbol], ...]

    @property
    def name(self) -> str:
        return self.symbols[0][1].name


@dataclass(frozen=True)
class _Piece:
    """Bytes at a fixed distance from each other, as one file describes them."""

    low: int
    high: int
    alignment: int
    name: str
    is_sized: bool = True
    """Whether all of these bytes are known to belong to it."""
    skipped: int = 0
    """Bytes from `low` that are not part of it."""


_CONTROL = _Piece(0, CONTROL_ROOM, CONTROL_ALIGNMENT, "the thread pointer", is_sized=False)


@dataclass
class ThreadLayout:
    """Distances from the thread pointer: negative, as the ABI has them."""

    distances: dict[Key, int] = field(default_factory=dict)
    extents: dict[Key, tuple[int, int]] = field(default_factory=dict)
    lowest: int = 0
    conflicts: dict[int, str] = field(default_factory=dict)
    """By side: why the file's thread-local data has no place."""
    bases: dict[int, int] = field(default_factory=dict)
    """By side, for a linked file: the start of its thread-local data, if it stays together."""
    used: bool = False
    """Whether either file uses thread-local data or the thread pointer."""
    sizes: dict[Key, int] = field(default_factory=dict)
    """For each object, the larger size if the files differ."""
    pieces: list[_Piece] = field(default_factory=lambda: [_CONTROL])
    exported: list[_Piece] = field(default_factory=list)
    """Objects in the thread-local data of a shared library that another file's definition may replace."""
    objects: list[PlacedObject] = field(default_factory=list)
    """Pieces that overlap are one object. The one that contains the thread pointer comes first."""
    named: list[PlacedObject] = field(default_factory=list)
    """Those that are exported: each at its place in one of `objects`, or elsewhere."""

    def distance(self, key: Key, size: int = 0, alignment: int = 1) -> int:
        """The distance of an object that may be anywhere: the next free one."""
        if key not in self.distances:
            room, step = max(size, self.sizes.get(key, 0)) or EXTERNAL_ROOM, max(alignment, ALIGNMENT)
            low = (self.lowest - room - 16) // step * step
            if low < -LIMIT:
                raise ThreadConflictError("has too much thread-local data")
            self.put(key, low, room)
        return self.distances[key]

    def object_at(self, distance: int, name: str) -> PlacedObject:
        """The object of some name at a distance; "" for everything that a file keeps together there. If no file shows
        one, another file defines the object of this name."""
        number = THREAD_POINTER + distance
        candidates = (*self.named, *self.objects) if name else self.objects
        found = next((o for o in candidates if o.holds(number - o.start, 1)), None)
        if found is None:
            found = PlacedObject(name, number, 0, EXTERNAL_ROOM, 1)
            self.objects.append(found)
        return found

    @property
    def pointed_to(self) -> PlacedObject:
        """The object that contains the thread pointer: in a program, all of its thread-local data."""
        return self.objects[0]

    def origin(self, distance: int, name: str) -> PlacedObject | None:
        """The object at a distance; None if its distance from the thread pointer is known."""
        found = self.object_at(distance, name)
        return None if found == self.pointed_to else found

    def put(self, key: Key, low: int, size: int) -> None:
        """Place an object at a fixed distance. Objects never overlap."""
        high = low + max(size, 1)
        if self.distances.setdefault(key, low) != low:
            raise ThreadConflictError("has thread-local variables in other places than the other file")
        for other, (start, end) in self.extents.items():
            if other != key and start < high and low < end:
                raise ThreadConflictError("has thread-local variables where the other file has others")
        start, end = self.extents.get(key, (low, high))
        self.extents[key] = min(start, low), max(end, high)
        self.lowest = min(self.lowest, low)


def place_threads(files: Sequence[ParsedFile], layout: ThreadLayout) -> None:
    """Give every thread-local object its distance; files whose objects stay together come first."""
    layout.used = any(_has_to_do_with_threads(file) for file in files)
    order = sorted(range(len(files)), key=lambda side: (not is_program(files[side]), not _stays_together(files[side])))
    for side, file in enumerate(files):
        for one in thread_objects(file, side):
            layout.sizes[one.key] = max(one.size, layout.sizes.get(one.key, 0))
    for side in order:
        try:
            _place_file(files[side], side, layout)
        except ThreadConflictError as error:
            layout.conflicts[side] = f"{files[side].path} {error}"
    layout.objects = _merged(layout.pieces)
    for item in _merged(layout.exported):
        home = layout.object_at(item.start - THREAD_POINTER, "")
        if home != layout.pointed_to:
            layout.named.append(replace(item, homes=frozenset({(home.start, item.start - home.start)})))


def _merged(pieces: Sequence[_Piece]) -> list[PlacedObject]:
    """One object for all pieces that overlap. Only the alignment stated for its start is used."""
    groups: list[list[_Piece]] = []
    for piece in sorted(pieces, key=lambda p: (p.low, -p.high)):
        if groups and piece.low < max(p.high for p in groups[-1]):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    # The thread pointer is above everything else.
    return [_placed(group) for group in reversed(groups)]


def _placed(group: Sequence[_Piece]) -> PlacedObject:
    low, skipped = group[0].low, max(p.skipped for p in group if p.low == group[0].low)
    room = max(p.high for p in group) - low
    name = next((p.name for p in group if p is _CONTROL), group[0].name)
    alignment = min(MOST_ALIGNMENT, *(p.alignment for p in group if p.low == low))
    size = room if all(p.is_sized for p in group) else 0
    return PlacedObject(name, THREAD_POINTER + low, size, room, alignment, skipped=skipped)


def _has_to_do_with_threads(file: ParsedFile) -> bool:
    return any(s.kind == THREAD_LOCAL for s in (*file.symbols, *file.dynamic_symbols)) or any(
        section.executable and file.linkage.uses_thread_pointer(section.data) for section in file.sections.values()
    )


def _place_file(file: ParsedFile, side: int, layout: ThreadLayout) -> None:
    objects = thread_objects(file, side)
    if len(objects) > MOST_OBJECTS:
        raise ThreadConflictError(f"has more than {MOST_OBJECTS} thread-local variables")
    pieces: list[_Piece] = []
    if not _stays_together(file):
        for one in objects:
            alignment = _alignment(file, one)
            low = layout.distance(one.key, one.size, alignment)
            _place_names(one, low, layout)
            piece = _Piece(low, low + (one.size or EXTERNAL_ROOM), alignment, one.name, one.size > 0)
            if any(piece.low < other.high and other.low < piece.high for other in pieces):
                raise ThreadConflictError("has two thread-local variables where the other file has one")
            pieces.append(piece)
        layout.pieces += pieces
        return
    start, end, alignment = thread_extent(file)
    size = -(-(end - start) // alignment) * alignment
    known = next((layout.distances[one.key] - one.start for one in objects if one.key in layout.distances), None)
    if is_program(file):
        base = -size
    elif known is not None:
        base = known
    else:
        base = (layout.lowest - size - 16) // max(alignment, ALIGNMENT) * max(alignment, ALIGNMENT)
    layout.bases[side] = base
    for one in objects:
        layout.put(one.key, base + one.start, one.size)
        _place_names(one, base + one.start, layout)
    layout.lowest = min(layout.lowest, base)
    name, alignment = f"the thread-local data of {file.path}", _lowest_bit(alignment | start)
    if is_program(file):
        layout.pieces.append(_Piece(base, CONTROL_ROOM, alignment, name, is_sized=False))
        return
    # An object at the start gets another address than the whole, to tell the two apart.
    low, high = base - _SKIPPED, base + max(end - start, 1)
    layout.pieces.append(_Piece(low, high, min(alignment, _SKIPPED), name, skipped=_SKIPPED))
    exported = {(bare(s.name), s.value) for s in file.dynamic_symbols if s.section != UNDEFINED_SECTION}
    for one in objects:
        if one.size and any((symbol.name, symbol.value) in exported for _, symbol in one.symbols):
            low = base + one.start
            layout.exported.append(_Piece(low, low + one.size, _alignment(file, one), one.name))


def _alignment(file: ParsedFile, one: ThreadObject) -> int:
    """The alignment of an object according to the file."""
    if not file.linked:
        return _lowest_bit(file.sections[one.section].alignment | one.start)
    start, _, alignment = thread_extent(file)
    return _lowest_bit(alignment | start | one.start)


def _lowest_bit(number: int) -> int:
    return number & -number or 1


def _place_names(one: ThreadObject, distance: int, layout: ThreadLayout) -> None:
    for key, symbol in one.symbols:
        if layout.distances.setdefault(key, distance + symbol.value - one.start) != distance + symbol.value - one.start:
            raise ThreadConflictError("has names for one thread-local variable that are two in the other file")


def is_program(file: ParsedFile) -> bool:
    """Whether distances from the thread pointer are final, and may stand in the code."""
    return file.linked and (file.fixed or file.is_program)


def _stays_together(file: ParsedFile) -> bool:
    """Whether code may count from one thread-local object to another, or from where all of them begin."""
    if not file.linked:
        return False
    meanings = (Dynamic.MODULE, Dynamic.DISTANCE, Dynamic.DESCRIPTOR)
    kinds = [kind for kind, meaning in file.linkage.dynamic.items() if meaning in meanings]
    nameless = any(r.kind in kinds and r.symbol == 0 for r in file.relocations.get(0, ()))
    return is_program(file) or nameless


def thread_extent(file: ParsedFile) -> tuple[int, int, int]:
    """Of a linked file: first and past-the-last address of its thread-local data, and the alignment."""
    sections = [s for s in file.sections.values() if s.thread_local]
    if not sections:
        return 0, 0, 1
    start = min(s.address for s in sections)
    return start, max(s.address + s.size for s in sections), max(s.alignment for s in sections)


def thread_keys(file: ParsedFile, side: int) -> dict[tuple[str, int, int], Key]:
    """By name, section and value. A name that means several objects is private to this side."""
    defined = {
        index: s
        for index, s in enumerate(dict.fromkeys(_thread_symbols(file)))
        if s.section != UNDEFINED_SECTION and s.section in file.sections and _is_inside(file, s)
    }
    plain = plain_keys(file, defined)
    return {
        (s.name, s.section, s.value): ("thread", plain[index][1])
        if index in plain
        else ("thread", side, s.section, s.value)
        for index, s in defined.items()
    }


def _is_inside(file: ParsedFile, symbol: FileSymbol) -> bool:
    home = file.sections[symbol.section]
    start = symbol.value + thread_extent(file)[0] - home.address if file.linked else symbol.value
    return home.thread_local and 0 <= start <= start + symbol.size <= home.size


def bare(name: str) -> str:
    """A symbol's name without its version."""
    return name.partition("@")[0]


def _thread_symbols(file: ParsedFile) -> Iterator[FileSymbol]:
    """Each name once, without its version."""
    for symbol in (*file.symbols, *file.dynamic_symbols):
        if symbol.kind == THREAD_LOCAL and is_name(symbol.name) and symbol.name != MODULE_BASE:
            name = bare(symbol.name) if file.linked else symbol.name
            yield symbol._replace(name=name, binding=symbol.binding and 1)


def thread_objects(file: ParsedFile, side: int) -> list[ThreadObject]:
    keys = thread_keys(file, side)
    symbols = {(s.name, s.section, s.value): s for s in _thread_symbols(file)}
    ordered = sorted((symbols[place] for place in keys), key=lambda s: (s.section, s.value, -s.size))
    groups: list[list[FileSymbol]] = []
    end = 0
    for symbol in ordered:
        if groups and groups[-1][0].section == symbol.section and symbol.value < end:
            groups[-1].append(symbol)
        else:
            groups.append([symbol])
            end = symbol.value
        end = max(end, symbol.value + symbol.size)
    return [_object(group, keys) for group in groups]


def _object(group: list[FileSymbol], keys: dict[tuple[str, int, int], Key]) -> ThreadObject:
    first = group[0]
    size = max(s.value + s.size for s in group) - first.value
    names = tuple((keys[s.name, s.section, s.value], s) for s in group)
    return ThreadObject(names[0][0], first.section, first.value, size, names)


def object_around(objects: Sequence[ThreadObject], section: int, offset: int) -> ThreadObject | None:
    """The object that an offset in a section is in; `objects` are in order."""
    index = bisect_right(objects, (section, offset), key=lambda one: (one.section, one.start)) - 1
    found = objects[index] if index >= 0 else None
    inside = found is not None and found.section == section and offset < found.start + found.size
    return found if inside else None


def loader_sections(layout: ThreadLayout, order: Order) -> list[Section]:
    """What the thread pointer points to: the word there is the thread pointer itself."""
    if not layout.used:
        return []
    word = THREAD_POINTER.to_bytes(8, order)
    return [Section(".thread", THREAD_POINTER, word, len(word), writable=False, executable=False)]


def note_thread_pointer(layout: ThreadLayout, objects: dict[int, PlacedObject], linked_words: dict[int, int]) -> int:
    """Record that the word at the thread pointer is an address. Returns the start of the object that it is relative to,
    0 if no code uses the thread pointer."""
    if not layout.used:
        return 0
    objects[layout.pointed_to.start] = layout.pointed_to
    linked_words[THREAD_POINTER] = layout.pointed_to.start
    return layout.pointed_to.start
