"""What a linker or loader may still change: definitions that give way to those of other files."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from isoform.borders.library import callees
from isoform.lift.bounds import is_of_bound, moving_bases
from isoform.lift.cfg import SELF
from isoform.lift.function import Call, Function
from isoform.load.image import NO_VARIABLES, Image, Symbol
from isoform.model.errors import Unsupported
from isoform.model.microop import Kind, number_of
from isoform.model.verdict import Assumption

SHOWN_NAMES = 4
_SECTION_BOUNDS = ("__start_", "__stop_")


def link_assumptions(target: Function, rewrite: Function) -> list[Assumption]:
    """That what is here is what runs. Direct calls inside a linked file, and what no other file can see, need none."""
    return list(_not_interposed({name for function in (target, rewrite) for name in _replaceable(function)}))


def same_code_assumptions(left: Function, right: Function) -> tuple[Assumption, ...]:
    """What it rests on that two functions which are the same code do the same: that nothing is replaced, of what they
    use and of themselves, that may be replaced on one side only. What may be on both is replaced by the same."""
    names = [frozenset((*_replaceable(function), *_own_if_replaceable(function))) for function in (left, right)]
    called = {name for function in (left, right) for name in callees(function)}
    return (*_not_interposed(names[0] ^ names[1]), *version_assumptions(left, right, called))


def version_assumptions(target: Function, rewrite: Function, names: Iterable[str]) -> Iterator[Assumption]:
    """That two versions of one library function, which the two files import, do the same."""
    left, right = target.image.versions, rewrite.image.versions
    other = [name for name in sorted(names) if name in left and name in right and left[name] != right[name]]
    if other:
        shown = _listed([f"{name}@{left[name]} and {name}@{right[name]}" for name in other])
        yield Assumption("versions-agree", f"{shown} do the same: two versions of one library function")


def _not_interposed(names: Iterable[str]) -> Iterator[Assumption]:
    listed = sorted(names)
    if listed:
        why = f"other files could replace the definitions of {_listed(listed)} when they are linked, and do not"
        yield Assumption("not-interposed", why)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN_NAMES]) + (", …" if len(names) > SHOWN_NAMES else "")


def _own_if_replaceable(function: Function) -> Iterator[str]:
    own = function.entry.address
    yield from (s.name for s in function.image.symbols if s.replaceable and s.is_function and s.address == own)


def refuse_section_bounds(*functions: Function) -> None:
    """Ends the question if code uses the start or end of a section that a linker puts together (`__start_x`): what
    other objects the section has, and what they hold, is not followed."""
    for function in functions:
        externals = function.image.externals
        names = {n for n in externals.values() if n.startswith(_SECTION_BOUNDS)}
        used = (externals.get(address) for address in _addresses(function)) if names else ()
        found = next((name for name in used if name in names), None)
        if found is not None:
            raise Unsupported(f"{function.name} uses {found}: what a linker puts into that section is not known")


def refuse_ambiguous_bases(*functions: Function) -> None:
    """Ends the question if an address in code that was linked may belong to one object or to another near it.
    `t[i - 1]` is compiled with a base before `t`, and a loop may end at the end of `t`, which is where the next object
    starts. In the file each is one number, but objects that both sides have are moved apart (`Image.moved`)."""
    for function in functions:
        other = _other_meaning(function)
        if other:
            raise Unsupported(
                f"{function.name} uses an address that may be one of {other} or of what lies beside it; "
                "give object files instead of linked ones"
            )


def has_ambiguous_bases(*functions: Function) -> bool:
    """Whether there is such an address: it may be clear if objects that lie alike in both files are kept together."""
    return any(_other_meaning(function) for function in functions)


def _other_meaning(function: Function) -> str:
    """An object that an address in the code may be meant for, though it is in or at another one."""
    image = function.image
    if not image.base or not any(_is_data(image, start) for start, _, _ in image.moved):
        return ""
    places = _Places(image)
    formed, used = _formed_addresses(function)
    moving = moving_bases(function)
    numbers = sorted(formed | moving.keys())
    meanings = (places.other_meaning(n, n in moving, moving.get(n), used) for n in numbers)
    return next((other for other in meanings if other), "")


class _Places:
    """Where the data of a linked file is in it, and how far each object was moved from there."""

    def __init__(self, image: Image) -> None:
        self._image = image
        moved = {start: shared for start, _, shared in image.moved if _is_data(image, start)}
        named = {start: (end, image.name_at(start) or "an object") for start, end, _ in image.moved if start in moved}
        sized = sorted((s for s in image.symbols if s.size and _is_variable(image, s)), key=lambda s: s.size)
        named |= {s.address: (s.address + s.size, s.name) for s in sized}
        objects = [(start, end, moved.get(start, start) - start, name) for start, (end, name) in named.items()]
        self._objects = sorted([*objects, *_unnamed(image, named)])
        self._ends: dict[int, list[int]] = {}
        """By where named objects start."""
        for start, (end, _) in named.items():
            self._ends.setdefault(start, []).append(end)

    def other_meaning(self, number: int, is_moving: bool, added: int | None, used: list[int]) -> str:
        """The name of an object that an address may also be meant for, if that was moved by another distance. An index
        may begin at any number (`days[year - 1900]`), so the object may be any distance from the address. `added`: how
        much code adds to it at most, None if that may be anything."""
        own = self._image.own_address(number)
        moved_by = number - own
        stays_inside = added is not None and any(own + added < end for end in self._ends.get(own, ()))
        is_moving = is_moving and not stays_inside
        for start, end, distance, name in self._objects:
            if distance == moved_by:
                continue
            if is_moving and own not in self._ends:
                return name
            if is_moving and start > own and end > start + 1:
                return name  # `t[i - 8]` is counted from there if eight elements of another object are before `t`
            touches = end == own
            if touches and (is_moving or _any_within(used, start + distance, end + distance)):
                return name
        return ""


def _unnamed(image: Image, named: Mapping[int, tuple[int, str]]) -> Iterator[tuple[int, int, int, str]]:
    """Stretches of data between named objects, where objects may be whose names were removed. (That others have names
    says nothing: a file may be linked from some with names and some without.)"""
    for section in image.sections:
        if section.executable or not section.writable or section.name.startswith(NO_VARIABLES):
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
    return not symbol.is_function and (section is None or not section.name.startswith(NO_VARIABLES))


def _formed_addresses(function: Function) -> tuple[set[int], list[int]]:
    """The numbers in the code that are not only the place of an access; and all of them, in order."""
    formed: set[int] = set()
    used: set[int] = set()
    for op in (op for block in function.blocks.values() for op in block.ops if not is_of_bound(op)):
        for position, var in enumerate(op.ins):
            number = number_of(var) if var.size == 8 else None
            if number is not None:
                used.add(number)
                if op.kind not in (Kind.LOAD, Kind.STORE) or position:
                    formed.add(number)
    return formed, sorted(used)


def _any_within(numbers: list[int], low: int, high: int) -> bool:
    index = bisect_left(numbers, low)
    return index < len(numbers) and numbers[index] < high


def _addresses(function: Function) -> Iterator[int]:
    """The numbers in the code, and what the slots hold that they are the addresses of."""
    for instruction in function.instructions.values():
        for number in (number_of(var) for op in instruction.ops for var in op.ins if var.size >= 4):
            if number is not None:
                yield number
                held = function.image.constant_bytes(number, 8)
                if held is not None:
                    yield int.from_bytes(held, function.image.byte_order)


def fixed_assumptions(target: Function, rewrite: Function) -> list[Assumption]:
    """What numbers mean in programs whose addresses were fixed when they were linked."""
    if not (target.image.is_fixed or rewrite.image.is_fixed):
        return []
    why = "in a program at fixed addresses, a number that is the address of a named function stands for it"
    return [Assumption("fixed-addresses", why)]


def _replaceable(function: Function) -> Iterator[str]:
    symbols = [s for s in function.image.symbols if s.replaceable]
    if not symbols:
        return
    own = function.entry.address
    calls_itself = any(isinstance(b.exit, Call) and b.exit.callee == SELF for b in function.blocks.values())
    for symbol in symbols:
        if symbol.is_function and symbol.address in function.instructions and (symbol.address != own or calls_itself):
            yield symbol.name
    constants = _Constants(function.image, symbols)
    for instruction in function.instructions.values():
        for op in instruction.ops:
            for var in op.ins:
                number = number_of(var) if var.size == 8 else None
                if number is not None and (name := constants.name_at(number)) is not None:
                    yield name


class _Constants:
    """Constants that may be replaced, found by an address in them or by that of a slot that holds one."""

    def __init__(self, image: Image, symbols: list[Symbol]) -> None:
        self._image = image
        self._symbols = sorted((s for s in symbols if not s.is_function and s.size), key=lambda s: s.address)
        self._starts = [s.address for s in self._symbols]

    def name_at(self, address: int, follow: bool = True) -> str | None:
        if not self._symbols:
            return None
        own = self._image.own_address(address)
        section = self._image.section_at(own)
        if section is None or section.writable or section.executable:
            return None
        index = bisect_right(self._starts, own) - 1
        if index >= 0 and own < self._symbols[index].address + self._symbols[index].size:
            return self._symbols[index].name
        if not follow or not section.name.startswith(".got") or own + 8 > section.end:
            return None
        start = own - section.address
        return self.name_at(int.from_bytes(section.data[start : start + 8], self._image.byte_order), follow=False)
