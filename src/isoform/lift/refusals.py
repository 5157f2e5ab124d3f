"""The rules that all code of a question obeys, whether it was lifted at once or found later by a formula or a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from isoform.lift.alone import refuse_surroundings
from isoform.lift.distances import computes_with_distances
from isoform.lift.function import Function
from isoform.lift.moving import Moving, moving_bases
from isoform.lift.object_flow import is_of_bound
from isoform.load.image import Image, Symbol
from isoform.load.section_names import has_no_variables, is_section_bound
from isoform.model.errors import Unsupported
from isoform.model.microop import Kind, Space, number_of, origin_of

_COUNTING = (Kind.INT_ADD, Kind.INT_SUB)
"""What makes another address of an address."""


def refuse_code(function: Function) -> None:
    """Raise `Unsupported` if code uses what no engine follows."""
    refuse_surroundings(function)
    if function.image.has_writable_code:
        raise Unsupported(
            "a section of the file is both writable and executable: what is there may be variables, or change"
        )
    _refuse_section_bounds(function)
    _refuse_ambiguous_bases(function)
    _refuse_masked_memory(function)
    _refuse_counting_from_code(function)
    _refuse_distances(function)


def is_refused(function: Function) -> bool:
    """Whether code uses what no engine follows."""
    try:
        refuse_code(function)
    except Unsupported:
        return True
    return False


def _refuse_section_bounds(function: Function) -> None:
    """Refuse the start or end of a section that a linker assembles (`__start_x`): the other objects of the section, and
    their contents, are not known."""
    externals = function.image.externals
    names = {n for n in externals.values() if is_section_bound(n)}
    used = (externals.get(address) for address in _addresses(function)) if names else ()
    found = next((name for name in used if name in names), None)
    if found is not None:
        raise Unsupported(f"{function.name} uses {found}: what a linker puts into that section is not known")


def _refuse_ambiguous_bases(function: Function) -> None:
    """Refuse an address in linked code if it may belong to one object or to another near it. `t[i - 1]` is compiled
    with a base before `t`, and a loop may end at the end of `t`, which is where the next object starts. In the file
    each is one number, but objects that both sides have are moved apart (`Image.moved`)."""
    other = _other_meaning(function)
    if other:
        raise Unsupported(
            f"{function.name} uses an address that may be one of {other} or of what lies beside it; "
            "give object files instead of linked ones"
        )


def has_ambiguous_bases(*functions: Function) -> bool:
    """Whether there is such an address. It may become clear if objects with the same layout in both files are kept
    together."""
    return any(_other_meaning(function) for function in functions)


def leaves_objects(function: Function) -> bool:
    """Whether code may count from an address in it to beyond the named object that is there. It may then be meant for
    any other."""
    places, moving = _Places(function.image), moving_bases(function)
    return any(places.leaves(number, most) for number, most in moving.bases.items())


def _other_meaning(function: Function) -> str:
    """An object that an address in the code may be meant for, though it is in or at another one."""
    image = function.image
    if not image.base or not any(_is_data(image, start) for start, _, _ in image.moved):
        return ""
    places, moving = _Places(image), moving_bases(function)
    numbers = sorted(moving.bases.keys() | moving.given)
    meanings = (places.other_meaning(number, moving) for number in numbers)
    return next((other for other in meanings if other), "") or _counted_outside(function)


def _counted_outside(function: Function) -> str:
    """An object that was moved, if code accesses what is beside it by its address and a constant, or forms such an
    address: what lies there in the file is elsewhere now."""
    image = function.image
    moved = {image.objects.around(shared) for start, _, shared in image.moved if _is_data(image, start)}
    objects = {item.start: item for item in moved if item is not None}
    for op in (op for block in function.blocks.values() for op in block.ops if not is_of_bound(op)):
        for position, var in enumerate(op.ins):
            item = objects.get(origin_of(var)) if var.space is Space.ADDRESS and var.size == 8 else None
            if item is None:
                continue
            is_place = op.kind in (Kind.LOAD, Kind.STORE) and not position
            accessed = (op.out if op.kind is Kind.LOAD else op.ins[1]) if is_place else None
            if not item.holds((number_of(var) or 0) - item.start, 0 if accessed is None else accessed.size):
                return item.name
    return ""


def _refuse_masked_memory(function: Function) -> None:
    """Assuming that all lanes of such an access are valid addresses would exclude inputs on which the code is right."""
    masked = next((i for i in function.instructions.values() if i.masks_memory), None)
    if masked is not None:
        raise Unsupported(f"{function.name} has `{masked.text}`, which accesses only the lanes that a mask chooses")


def _refuse_counting_from_code(function: Function) -> None:
    """In a linked file, refuse an address that is counted from the start of a function. It means data at that distance
    (the large code model counts so), and data is elsewhere now."""
    image = function.image
    if not image.is_linked:
        return
    for op in (op for block in function.blocks.values() for op in block.ops):
        for var in (var for var in op.ins if var.space is Space.ADDRESS and var.size == 8):
            origin, number = origin_of(var), number_of(var)
            is_code = bool(image.code_at(image.aliases.get(origin, image.own_address(origin)), 1))
            if is_code and (number != origin or op.kind in _COUNTING):
                raise Unsupported(
                    f"{function.name} counts from the address of a function, as in the large code model: what is meant "
                    "is not known in a linked file; compare the object files"
                )


def _refuse_distances(function: Function) -> None:
    """In an object file, refuse an entry of a table of distances that is read by itself, and not by an index: code adds
    such a number to the address of the table, and by itself it says how far isoform placed two things apart. So does
    one that is read by an index and not added to it."""
    image = function.image
    if not image.distances:
        return
    for op in (op for instruction in function.instructions.values() for op in instruction.ops):
        where = number_of(op.ins[0]) if op.kind is Kind.LOAD else None
        size = op.out.size if op.out is not None else 0
        if where is not None and any(at in image.distances for at in range(where, where + size)):
            raise Unsupported(f"{function.name} reads the distance between two things, which a linker decides")
    if computes_with_distances(function):
        raise Unsupported(
            f"{function.name} uses a table of distances, or its address, for something else than to find what its "
            "entries lead to: these are numbers that a linker decides"
        )


class _Places:
    """The places of data in a linked file, and how far each object was moved."""

    def __init__(self, image: Image) -> None:
        self._image = image
        moved = {start: shared for start, _, shared in image.moved if _is_data(image, start)}
        named = {start: (end, image.name_at(start) or "an object") for start, end, _ in image.moved if start in moved}
        sized = sorted((s for s in image.symbols if s.size and _is_variable(image, s)), key=lambda s: s.size)
        named |= {s.address: (s.address + s.size, s.name) for s in sized}
        objects = [(start, end, moved.get(start, start) - start, name) for start, (end, name) in named.items()]
        self._objects = sorted([*objects, *_unnamed(image, named)])
        self._ends: dict[int, list[int]] = {}
        """By the start of named objects."""
        for start, (end, _) in named.items():
            self._ends.setdefault(start, []).append(end)

    def other_meaning(self, number: int, moving: Moving) -> str:
        """The name of an object that an address may also be meant for, if that was moved by another distance. Where
        code counts from the address and may leave the object that it is in, it may be meant for any: an index may begin
        at any number (`days[year - 1900]`). An address that is given away is in the object that is meant, or at its
        end."""
        own = self._image.own_address(number)
        most, is_given = moving.bases.get(number, 0), number in moving.given
        leaves = self.leaves(number, most)
        for start, end, distance, name in self._objects:
            if distance == number - own:
                continue
            if number in moving.bases and leaves and end > start + 1:
                return name  # the base of `t[i - 8]` if eight elements of another object are before `t`
            if is_given and end == own:
                return name
        return ""

    def leaves(self, number: int, most: int | None) -> bool:
        own = self._image.own_address(number)
        return most is None or not any(start <= own and own + most < end for start, end in self._named_at(own))

    def _named_at(self, own: int) -> Iterator[tuple[int, int]]:
        return ((start, end) for start, ends in self._ends.items() if start <= own for end in ends)


def _unnamed(image: Image, named: Mapping[int, tuple[int, str]]) -> Iterator[tuple[int, int, int, str]]:
    """Ranges of data between named objects, which may contain objects whose names were removed. (Other names prove
    nothing: a file may be linked from files with and without names.)"""
    for section in image.sections:
        if section.executable or not section.writable or has_no_variables(section.name):
            continue
        at = section.address
        for start in sorted(start for start in named if section.address <= start < section.end):
            if at < start:
                yield at, start, image.moved_ranges.shared_around(at) - at, "data without a name"
            at = max(at, named[start][0])
        if at < section.end:
            yield at, section.end, image.moved_ranges.shared_around(at) - at, "data without a name"


def _is_data(image: Image, address: int) -> bool:
    section = image.section_at(address)
    return section is not None and not section.executable


def _is_variable(image: Image, symbol: Symbol) -> bool:
    """Whether it is data of the program and not of the loader."""
    section = image.section_at(symbol.address)
    return not symbol.is_function and (section is None or not has_no_variables(section.name))


def taken_names(function: Function) -> Iterator[str]:
    """The names of the outside functions and objects whose addresses are in the code."""
    externals = function.image.externals
    return (externals[address] for address in _addresses(function) if address in externals)


def _addresses(function: Function) -> Iterator[int]:
    """The numbers in the code, and the contents of the slots whose addresses they are."""
    for instruction in function.instructions.values():
        for number in (number_of(var) for op in instruction.ops for var in op.ins if var.size >= 4):
            if number is not None:
                yield number
                held = function.image.constant_bytes(number, 8)
                if held is not None:
                    yield int.from_bytes(held, function.image.byte_order)
