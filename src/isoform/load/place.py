"""From one or two parsed files to images in one address space.

What the two sides have in common by name must have one address in both images (see `Image`). Files are therefore parsed
one by one but placed together.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from isoform.load.blocks import PlacedData, Region, blocks_of, is_name, object_keys, place_blocks
from isoform.load.differing import differing
from isoform.load.ends import agreeing_ends
from isoform.load.image import Image
from isoform.load.linked.build import LinkedImage
from isoform.load.linked.contents import loaded_sections
from isoform.load.linked.groups import groups_of
from isoform.load.linked.names import LinkedNames, fixed_conflict
from isoform.load.objects import PlacedObjects
from isoform.load.parsed import COMMON_SECTION, LOCAL, OBJECT, UNDEFINED_SECTION, WEAK, ParsedFile
from isoform.load.relocatable.build import ObjectImage
from isoform.load.relocatable.functions import object_functions
from isoform.load.relocatable.placed import PlacedFile
from isoform.load.shared import Group, Shared
from isoform.load.thread import place_threads
from isoform.load.versions import told_apart
from isoform.model.errors import UserError
from isoform.model.values import dataclass

# Everything of an object file lies below 2 GiB: its code may hold addresses in 31 bits. Code is not at round numbers: a
# constant in it must not be mistaken for the address of a function.
CODE_STARTS = (0x0B3A_7000, 0x0C59_D000)
SHARED_START = 0x1000_0000
NAMES_START = 0x7000_0000
NAMES_END = 0x7FFF_0000
FIRST_FREE = 0x8000_0000
MOST_WEAK = 64
"""Bits of `Machine.absent_symbols`."""


@dataclass(frozen=True)
class PlacedImage:
    """An image and where the file's parts went in it."""

    file: ParsedFile
    image: Image
    code: dict[int, int]
    """Of an object file: address of each executable section."""
    base: int = 0
    """Of a linked file: what is added to its own addresses."""


def place(files: Sequence[ParsedFile]) -> list[Image]:
    """The images of one file, or of the two files of a question."""
    return [placement.image for placement in place_files(files)]


def place_files(files: Sequence[ParsedFile], together: bool = False) -> list[PlacedImage]:
    """`together`: objects with the same layout in two linked files move as one, so that an address beside one of them
    means the same in both. The files then do not tell which object it belongs to."""
    if len(files) == 2 and files[0].data == files[1].data:
        first = place_files(files[:1])[0]
        second = replace(first.image, path=files[1].path, from_source=files[1].from_source)
        return [first, replace(first, file=files[1], image=second)]
    files = told_apart(files)
    floor = _end_of_fixed(files)
    codes = _place_code(files, floor)
    highest = max(
        [floor, *(address + f.sections[i].size for f, c in zip(files, codes, strict=True) for i, address in c.items())]
    )
    shared = Shared(
        Region(max(SHARED_START, -(-highest // 0x1000) * 0x1000), NAMES_START), Region(NAMES_START, NAMES_END)
    )
    shared.of_two = len(files) > 1
    shared.weak.update(_weak_names(files))
    names = [LinkedNames(file) if file.linked else None for file in files]
    shared.fixed_conflict = fixed_conflict(names)
    data = _place_data(files, shared)
    _name_linked_globals(files, names, shared)
    place_threads(files, shared.thread)
    common = _common_names(files, names)
    for group in _groups(names, common) if together else ():
        shared.place_group(group)
    placements = []
    for side, (file, linked) in enumerate(zip(files, names, strict=True)):
        if linked is not None:
            image = LinkedImage(linked, side, shared, common).build()
            placements.append(PlacedImage(file, image, {}, image.base))
        else:
            image = ObjectImage(PlacedFile(file, side, data[side], codes[side], shared, common)).build()
            placements.append(PlacedImage(file, image, codes[side]))
    return _with_differences(placements, [part for side in data for part in _inner_ranges(side)], shared)


def _end_of_fixed(files: Sequence[ParsedFile]) -> int:
    """Past the last low address that an executable claims for itself."""
    end = 0
    for file in files:
        for section in loaded_sections(file) if file.fixed else ():
            if section.address < FIRST_FREE:
                end = max(end, section.address + section.size)
    if end >= NAMES_START - SHARED_START:
        names = " and ".join(f.path for f in files if f.fixed)
        raise UserError(f"{names} must be at addresses that isoform uses itself; link it as position-independent code.")
    return end


def _place_code(files: Sequence[ParsedFile], floor: int) -> list[dict[int, int]]:
    codes: list[dict[int, int]] = []
    for side, file in enumerate(files):
        region = Region(max(CODE_STARTS[side], floor), NAMES_START)
        executable = [s for s in file.sections.values() if s.executable and not file.linked]
        codes.append({s.index: region.take(s.size, s.alignment) for s in executable})
        floor = max(floor, -(-region.next // 0x1000) * 0x1000)
    return codes


def _place_data(files: Sequence[ParsedFile], shared: Shared) -> list[PlacedData]:
    blocks = [block for side, file in enumerate(files) if not file.linked for block in blocks_of(file, side)]
    placed = place_blocks(blocks, shared.data)
    for block in placed:
        for part in block.parts:
            if part.named and not block.torn:
                shared.objects.setdefault(part.key, block.address + part.start)
    data = [PlacedData([b for b in placed if b.side == side]) for side in range(len(files))]
    for side, file in enumerate(files):
        if not file.linked:
            _name_globals(file, data[side], shared)
    return data


def _name_globals(file: ParsedFile, data: PlacedData, shared: Shared) -> None:
    """A global that one side defines and the other only uses has one address."""
    for index in object_keys(file):
        symbol = file.symbols[index]
        section, offset = (-1 - index, 0) if symbol.section == COMMON_SECTION else (symbol.section, symbol.value)
        block = data.around(section, offset)
        if symbol.binding != LOCAL and block is not None and not block.torn:
            shared.addresses.setdefault(symbol.name, block.address + offset - block.start)


def _name_linked_globals(files: Sequence[ParsedFile], names: Sequence[LinkedNames | None], shared: Shared) -> None:
    """The same if the side that defines it is a linked file. (One at fixed addresses keeps its own.)"""
    for linked, other in zip(names, reversed(files), strict=True):
        if linked is None or linked.file.fixed:
            continue
        used, copied = _used_names(other), linked.copied
        for name, symbol in linked.shareable.items():
            if name in used and symbol.binding != LOCAL and symbol.kind == OBJECT and symbol.value not in copied:
                shared.addresses.setdefault(name, shared.by_object(("object", name), symbol.size))


def _common_names(files: Sequence[ParsedFile], names: Sequence[LinkedNames | None]) -> set[str]:
    """Names of functions and data that both sides have or use, if each stands for one thing only."""
    if len(files) < 2:
        return set()
    sides = zip(files, names, strict=True)
    left, right = (_object_names(file) if linked is None else set(linked.shareable) for file, linked in sides)
    return (left & (right | _used_names(files[1]))) | (right & (left | _used_names(files[0])))


def _groups(names: Sequence[LinkedNames | None], common: set[str]) -> list[Group]:
    left, right = names if len(names) == 2 else (None, None)
    return groups_of(left, right, common) if left is not None and right is not None else []


def _object_names(file: ParsedFile) -> set[str]:
    return {*object_functions(file), *(str(key[1]) for key in object_keys(file).values())}


def _used_names(file: ParsedFile) -> set[str]:
    symbols = file.dynamic_symbols if file.linked else file.symbols
    return {s.name for s in symbols if s.section == UNDEFINED_SECTION and is_name(s.name)}


def _weak_names(files: Sequence[ParsedFile]) -> dict[str, int | None]:
    """Symbols that no file defines or needs. If a file has an ordinary (not weak) reference to one, linking requires
    its definition."""
    undefined = [
        s
        for file in files
        for s in (file.dynamic_symbols if file.linked else file.symbols)
        if s.section == UNDEFINED_SECTION and is_name(s.name)
    ]
    needed = {s.name for s in undefined if s.binding != WEAK}
    names = sorted({s.name for s in undefined} - needed)
    return {name: bit if bit < MOST_WEAK else None for bit, name in enumerate(names)}


def _inner_ranges(data: PlacedData) -> Iterator[tuple[int, int]]:
    for block in data.blocks:
        for part in block.parts:
            if part.inner:
                yield block.address + part.start, block.address + part.end


def _with_differences(
    placements: list[PlacedImage], unseen: Sequence[tuple[int, int]], shared: Shared
) -> list[PlacedImage]:
    if len(placements) < 2:
        return placements
    images = agreeing_ends(placements[0].image, placements[1].image)
    placements = [replace(p, image=image) for p, image in zip(placements, images, strict=True)]
    apart = tuple(differing(images[0], images[1], unseen))
    private = private_ranges(images[0], images[1]), private_ranges(images[1], images[0])
    inner = tuple(unseen)
    objects = PlacedObjects.of(image.objects.by_start.values() for image in images)
    for literals in shared.literals():
        objects = objects.with_merged_literals(literals)
    return [
        replace(p, image=replace(p.image, differing=apart, private=own, inner_data=inner, objects=objects))
        for p, own in zip(placements, private, strict=True)
    ]


def private_ranges(image: Image, other: Image) -> tuple[tuple[int, int], ...]:
    """Data of `image` at addresses where the other image has nothing. That includes parts of a section, such as a
    static variable whose stores a compiler removed because nothing reads it. It does not include what the other file
    declares without defining it (`extern`): that is one variable of both."""
    found: list[tuple[int, int]] = []
    ends = [s.end for s in other.sections]
    for section in image.sections:
        at = section.address
        for index in range(bisect_right(ends, at), len(ends)):
            there = other.sections[index]
            if there.address >= section.end or section.executable:
                break
            if at < there.address:
                found.append((at, there.address))
            at = there.end
        if at < section.end and not section.executable:
            found.append((at, section.end))
    return tuple(part for each in found for part in _without_declared(each, image, other))


def _without_declared(area: tuple[int, int], image: Image, other: Image) -> Iterator[tuple[int, int]]:
    at, end = area
    for address in sorted(address for address in other.externals if at <= address < end):
        item = image.objects.by_start.get(address)
        if item is not None and item.size:
            if at < address:
                yield at, address
            at = max(at, address + item.size)
    if at < end:
        yield at, end
