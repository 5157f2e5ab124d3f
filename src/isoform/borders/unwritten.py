"""Static variables that nothing writes: constants in effect, whatever section they are in.

A compiler that sees a whole file makes a constant of a `static` variable that no code of the file writes: it puts it
into a read-only section, or puts its value where it is read. Unoptimised code reads it from writable memory. No other
file can name the variable, so that it keeps what it holds at first if no code of its own file stores to it or gives its
address away.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from isoform.borders.address_flow import DataAddress, Flow
from isoform.borders.objects import NEAR, SLOT, DataObjects, Range
from isoform.borders.reach import constants_of, meant_by
from isoform.lift.cfg import control_flow_graph
from isoform.lift.function import Function
from isoform.lift.lift import lift
from isoform.load.differing import differing
from isoform.load.fields import Statics
from isoform.load.image import Image, Section, Symbol
from isoform.load.place import private_ranges
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported
from isoform.model.machine import Machine
from isoform.model.microop import number_of
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption

UNWRITTEN = "unwritten-data"
"""The name of the assumption."""
_FAR = 1 << 16
"""Bytes beside a section in which the base of an index into it may lie."""

Functions = tuple[Function, Function]
Held = tuple[tuple[str, int, bytes], ...]
"""Names, addresses, and what is there at first."""


@dataclass(frozen=True)
class Constants:
    """The functions, lifted again where variables that they name turned out to be constants."""

    functions: Functions
    assumptions: tuple[Assumption, ...] = ()
    unclear: Held = ()
    """Variables of which it is not clear whether anything writes them, and constants that one side does not define: no
    difference may rest on what else they may hold."""


def with_constants(functions: Functions, inline: bool, budget: Budget) -> Constants:
    """Of the static variables that the functions name, those that the other side does not have as variables too."""
    images = functions[0].image, functions[1].image
    found: list[dict[str, Range]] = []
    unclear = [*_defined_elsewhere(functions[0], images[1]), *_defined_elsewhere(functions[1], images[0])]
    shared = ", ".join(name for name, _, _ in unclear)
    why = f"{shared}, which only one of the files defines, holds the same on both sides"
    assumptions = [Assumption("same-data", why)] if shared else []
    for function, other in zip(functions, reversed(images), strict=True):
        named = list(_named(function, other))
        written = {id(s): _written(s, function.image, function.machine, budget) for _, _, s in named if s is not None}
        found.append({})
        for name, extent, section in named:
            parts = written[id(section)] if section is not None else None
            if parts is None:
                unclear.append((name, extent[0], DataObjects(function.image).contents(extent)))
            elif not any(low < extent[1] and extent[0] < high for low, high in parts):
                found[-1][name] = extent
    if not any(found):
        return Constants(functions, tuple(assumptions), tuple(unclear))
    left, right = (_frozen(image, [*own.values()]) for image, own in zip(images, found, strict=True))
    apart = tuple(differing(left, right, left.inner_data))
    left = replace(left, differing=apart, private=private_ranges(left, right))
    right = replace(right, differing=apart, private=private_ranges(right, left))
    again = [
        replace(lift(image, f.machine, f.name, f.entry.address, inline, f.hints, budget), alone=f.alone)
        for f, image in zip(functions, (left, right), strict=True)
    ]
    names = ", ".join(dict.fromkeys(name for own in found for name in own))
    why = f"no code of the file writes {names} or gives its address away: it keeps what it holds at first"
    return Constants((again[0], again[1]), (*assumptions, Assumption(UNWRITTEN, why)), tuple(unclear))


def _defined_elsewhere(function: Function, other: Image) -> Iterator[tuple[str, int, bytes]]:
    """Constants that a function names and only the other file defines: it reads the same (`same-data`)."""
    addresses = {name: address for address, name in function.image.externals.items()}
    constants = [s for s in other.symbols if s.name in addresses and s.size and not s.is_function]
    numbers = sorted(_with_slots(function.image, constants_of(function))) if constants else []
    for symbol in constants:
        data = other.constant_bytes(symbol.address, symbol.size)
        low = addresses[symbol.name]
        if data is not None and bisect_left(numbers, low) < bisect_left(numbers, low + symbol.size):
            yield symbol.name, low, data


def _with_slots(image: Image, numbers: Iterable[int]) -> set[int]:
    """The numbers, and what is at the addresses that they are: code may read an address from a table."""
    found = set(numbers)
    words = (image.constant_bytes(number, SLOT) for number in tuple(found))
    return found | {int.from_bytes(word, image.byte_order) for word in words if word is not None}


def _named(function: Function, other: Image) -> Iterator[tuple[str, Range, Statics | None]]:
    """The static variables that a function names, each with its section if it is known what refers to that."""
    image = function.image
    objects: list[tuple[str, Range, Statics | None]] = [
        (name, (low, high), section) for section in image.statics for name, low, high in section.objects
    ]
    shared = {start: there for start, _, there in image.moved}
    for symbol in image.symbols:
        if symbol.is_local and not symbol.is_function and symbol.size and _is_variable(image, symbol.address):
            start = shared.get(symbol.address, symbol.address)
            objects.append((symbol.name, (start, start + symbol.size), None))
    numbers = sorted(set(constants_of(function))) if objects else []
    meant = meant_by(function) if objects else []
    for name, (low, high), section in objects:
        around = NEAR if section is not None else 0
        is_named = bisect_left(numbers, low - around) < bisect_left(numbers, high + around)
        is_named = is_named or any(start < high and low < end for start, end in meant)
        if is_named and not _is_variable(other, low):
            yield name, (low, high), None if _can_be_named(image, low) else section


def _can_be_named(image: Image, address: int) -> bool:
    """Whether every file can reach a variable by its section: linkers define `__start_x` for a section called `x`."""
    section = image.section_at(image.own_address(address))
    return section is not None and section.name.isidentifier()


def _is_variable(image: Image, address: int) -> bool:
    section = image.section_at(image.own_address(address))
    return section is not None and section.writable


def _frozen(image: Image, extents: Sequence[Range]) -> Image:
    """The image with these parts of its data read-only."""
    sections = list(image.sections)
    for low, high in extents:
        index = next(i for i, s in enumerate(sections) if s.address <= low and high <= s.end)
        sections[index : index + 1] = _cut(sections[index], low, high)
    return replace(image, sections=tuple(sections))


def _cut(section: Section, low: int, high: int) -> Iterator[Section]:
    for start, end, writable in ((section.address, low, True), (low, high, False), (high, section.end, True)):
        if start < end:
            data = section.data[start - section.address : end - section.address]
            yield replace(section, address=start, data=data, size=end - start, writable=writable)


def _written(section: Statics, image: Image, machine: Machine, budget: Budget) -> set[Range] | None:
    """The parts of a section that code may write or give away; None: it may be all of it."""
    if section.is_unclear:
        return None
    # Whoever finds the address of an object, or of its end, in data may write all of it.
    found: set[Range] = {(address - 1, address + 1) for address in section.pointed}
    homes = _Homes(image)
    by_function: dict[Symbol, dict[int, Range | None]] = {}
    for place, region in section.fields:
        home = homes.around(place)
        if home is None:
            return None
        by_function.setdefault(home, {})[place] = region
    for symbol, fields in by_function.items():
        written = _written_by(symbol, fields, section, image, machine, budget)
        if written is None:
            return None
        found |= written
    return found


class _Homes:
    """Which function code belongs to."""

    def __init__(self, image: Image) -> None:
        self._functions = sorted((s for s in image.symbols if s.is_function and s.size), key=lambda s: s.address)
        self._starts = [symbol.address for symbol in self._functions]

    def around(self, place: int) -> Symbol | None:
        index = bisect_right(self._starts, place) - 1
        found = self._functions[index] if index >= 0 else None
        return found if found is not None and place < found.address + found.size else None


def _written_by(
    symbol: Symbol,
    fields: dict[int, Range | None],
    section: Statics,
    image: Image,
    machine: Machine,
    budget: Budget,
) -> set[Range] | None:
    try:
        function = control_flow_graph(image, machine, symbol.name, symbol.address, False, None, budget)
    except Unsupported:
        return None
    regions: dict[int, Range | None] = {}
    """By the address of an instruction that refers to the section."""
    for place, region in fields.items():
        address = next((a for a, i in function.instructions.items() if a <= place < a + i.length), None)
        if address is None or not any(_is_near(section, number) for number in _constants(function, address)):
            return None  # unreachable code, or an address that is computed from several numbers
        regions[address] = region if regions.get(address, region) == region else None

    def source(address: int, number: int) -> DataAddress | None:
        is_reference = address in regions and _is_near(section, number)
        if not is_reference and not any(low <= number <= high for low, high in section.extents):
            return None
        return DataAddress(number, regions.get(address))

    flow = Flow(function, source)
    flow.run()
    return None if flow.everything else flow.written


def _is_near(section: Statics, number: int) -> bool:
    return any(low - _FAR <= number <= high + _FAR for low, high in section.extents)


def _constants(function: Function, address: int) -> Iterator[int]:
    for op in function.instructions[address].ops:
        numbers = (number_of(var) for var in op.ins if var.size >= 4)
        yield from (number for number in numbers if number is not None)
