"""Constructors, resolvers (`ifunc`) and other code that runs when a file is loaded. It may change data before anything
else reads it, so that its contents are no longer those in the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from isoform.borders.apart import Apart
from isoform.borders.contents import SharedContents
from isoform.borders.objects import DataObjects, Range
from isoform.borders.reach import Reach, reach
from isoform.borders.same_code import is_same_code
from isoform.lift.function import Branch, Call, Function, Goto, Return
from isoform.lift.lift import lift
from isoform.lift.pointers import stack_alignments
from isoform.lift.refusals import is_refused
from isoform.load.image import Image
from isoform.load.section_names import is_one_of
from isoform.model.errors import Unsupported, UserError
from isoform.model.machine import Machine
from isoform.model.microop import Kind, Space, number_of
from isoform.model.outcome import THREAD_POINTER
from isoform.model.values import dataclass

_REVERSED = ".ctors"
_TABLES = (".preinit_array", ".init_array", _REVERSED)
_REGISTERS_CLONES = "_ITM_registerTMCloneTable"
_STARTS_PROFILING = "__gmon_start__"
_LEAST_ADDRESS = 4096
_WORD = 8
_THREAD_WORD = (THREAD_POINTER, THREAD_POINTER + _WORD)
_NO_PRIORITY = 65535
"""The lowest that a compiler gives."""


@dataclass(frozen=True)
class Initialiser:
    name: str
    entry: int
    uses: Reach
    is_piece: bool = False
    """Whether it is a piece of what a linker puts together from the sections `.init` of all files."""
    table: str = ""
    """The section that leads to it, if one does."""


def initialisers(machine: Machine, image: Image) -> tuple[Initialiser, ...]:
    """In the order in which they run, without the compiler's own and those that change nothing."""
    found = []
    for entry, table in _entries(image):
        name = _name(image, entry)
        try:
            function = lift(image, machine, name, entry)
        except (Unsupported, UserError):
            section = image.section_at(entry)
            is_piece = section is not None and section.name == ".init"
            found.append(Initialiser(name, entry, Reach(frozenset(), frozenset(), complete=False), is_piece, table))
            continue
        is_harmless = (image.is_linked and _is_of_compiler(function)) or _changes_nothing(function)
        if _has_unknown(function) or not is_harmless:
            uses = _without_threads(function, reach(function))
            is_clear = not is_refused(function) and not _has_unknown(function)
            uses = uses if is_clear else replace(uses, complete=False)
            found.append(Initialiser(name, entry, uses, table=table))
    return tuple(found)


def _has_unknown(function: Function) -> bool:
    """Whether it has an instruction without semantics: that may write anything."""
    return any(op.kind is Kind.UNSUPPORTED for one in function.instructions.values() for op in one.ops)


def _changes_nothing(function: Function) -> bool:
    """Whether it calls nothing outside and stores only on its own stack: many resolvers only choose."""
    if not all(isinstance(block.exit, (Goto, Branch, Return)) for block in function.blocks.values()):
        return False
    on_stack = {(number, index) for number, index, _ in stack_alignments(function)}
    return all(
        op.kind is not Kind.STORE or (number, index) in on_stack
        for number, block in function.blocks.items()
        for index, op in enumerate(block.ops)
    )


def _without_threads(function: Function, uses: Reach) -> Reach:
    """Without the word that holds the thread pointer, which nothing writes; and in code that does not use the thread
    pointer without the thread-local data to which its small numbers would be distances."""
    areas = [_THREAD_WORD]
    local = DataObjects(function.image).of_threads
    if not any(_is_in(local, number) or number == THREAD_POINTER for number in _numbers(function)):
        areas += local
    data, named, meant = (
        frozenset(one for one in found if not _is_in(areas, one[0])) for found in (uses.data, uses.named, uses.meant)
    )
    return replace(uses, data=data, named=named, meant=meant)


def _is_in(areas: Iterable[Range], address: int) -> bool:
    return any(low <= address < high for low, high in areas)


def _numbers(function: Function) -> Iterator[int]:
    """The numbers in the code."""
    for instruction in function.instructions.values():
        found = (number_of(var) for op in instruction.ops for var in op.ins)
        yield from (number for number in found if number is not None)


def _is_of_compiler(function: Function) -> bool:
    return _only_registers_clones(function) or _only_starts_profiling(function)


def _only_registers_clones(function: Function) -> bool:
    """Whether it is the `frame_dummy` that compilers add to every linked file: it neither stores nor reads anything,
    and jumps only to the function of libitm that is given the table of transactional clones, if there is one. In a
    program at fixed addresses a linker has decided that there is none; then it has no address of code. (A function of
    the program may have its name, and files without symbols have it, too.)"""
    externals = function.image.externals
    ops = [op for instruction in function.instructions.values() for op in instruction.ops]
    kinds = Counter(op.kind for op in ops)
    used = [(var.space, number_of(var)) for op in ops for var in op.ins]
    named = {externals[number] for _, number in used if number is not None and number in externals}
    has_code = any(number and space is not Space.CODE and function.image.code_at(number, 1) for space, number in used)
    is_settled = function.image.is_fixed and not named and not has_code
    reads_only_return_address = kinds[Kind.LOAD] <= kinds[Kind.RETURN]
    calls = any(isinstance(block.exit, Call) for block in function.blocks.values())
    if calls or kinds[Kind.STORE] or not reads_only_return_address:
        return False
    return is_settled or named == {_REGISTERS_CLONES}


def _only_starts_profiling(function: Function) -> bool:
    """Whether it is the `_init` that the C library's files add to every linked file. It has no address but that of
    `__gmon_start__`, which it calls if there is one; and it stores only where that call returns to."""
    externals = function.image.externals
    for instruction in function.instructions.values():
        calls = any(op.kind in (Kind.CALL, Kind.CALLIND) for op in instruction.ops)
        for op in instruction.ops:
            numbers = {number_of(var) for var in op.ins} - {None, instruction.next_address if calls else None}
            named = {externals.get(number) for number in numbers if number is not None and number >= _LEAST_ADDRESS}
            if not named <= {_STARTS_PROFILING} or (op.kind is Kind.STORE and not calls):
                return False
    return True


def are_alike(
    machine: Machine,
    images: tuple[Image, Image],
    sides: tuple[Sequence[Initialiser], Sequence[Initialiser]],
    apart: Sequence[Apart],
) -> bool:
    """Whether the initialisers of both sides are the same code with the same constants in the same order, and use
    nothing that is `apart`."""
    contents = SharedContents(*images)
    is_ordered = all(_has_known_order(image, side) for image, side in zip(images, sides, strict=True))
    return (
        is_ordered
        and _run_in_one_order(*sides)
        and len(sides[0]) == len(sides[1])
        and all(
            one.uses.complete
            and not contents.apart(one.uses.data, apart)
            and not any(part.low in one.uses.functions for part in apart)
            and is_same_code(machine, images, (one.entry, other.entry))
            for one, other in zip(*sides, strict=True)
        )
    )


def _run_in_one_order(left: Sequence[Initialiser], right: Sequence[Initialiser]) -> bool:
    """Whether what the tables list alike runs in the same order. A linker reverses `.ctors`, and sorts its parts among
    those of `.init_array`."""
    tables = [[one.table for one in side] for side in (left, right)]
    is_plain = not any(is_one_of(table, (_REVERSED,)) for side in tables for table in side)
    return is_plain or tables[0] == tables[1]


def _has_known_order(image: Image, found: Sequence[Initialiser]) -> bool:
    """Whether it does not matter which resolver runs first: each uses other data."""
    seen: set[Range] = set()
    for one in (one for one in found if one.entry in image.at_loading):
        if seen & one.uses.data:
            return False
        seen |= one.uses.data
    return True


def initialiser_entries(image: Image) -> Iterator[int]:
    """Where the code of each is, in the order in which they run."""
    return (entry for entry, _ in _entries(image))


def _entries(image: Image) -> Iterator[tuple[int, str]]:
    """The same, each with the table that leads to it."""
    for address in image.at_loading:
        if image.code_at(address):
            yield address, ""
    for low, high, name in _tables(image):
        for place in _words_in(image, low, high):
            address = _word(image, place)
            own = image.aliases.get(address, address)
            if image.code_at(own):
                yield own, name


def _words_in(image: Image, low: int, high: int) -> Iterator[int]:
    """Where the words of a table are. It may lie in several sections, and claim more than the file has."""
    found: dict[int, None] = {}
    for section in image.sections:
        start, end = max(low, section.address), min(high, section.address + len(section.data))
        first = low + (start - low) // _WORD * _WORD
        found |= dict.fromkeys(range(first, min(end, high - _WORD + 1), _WORD))
    return iter(sorted(found))


def _word(image: Image, place: int) -> int:
    """A word, which may begin in one section and end in another."""
    held = bytearray()
    for at in range(place, place + _WORD):
        section = image.section_at(at)
        start = 0 if section is None else at - section.address
        held += (b"" if section is None else section.data[start : start + 1]) or b"\0"
    return int.from_bytes(held, image.byte_order)


def _tables(image: Image) -> Iterator[tuple[int, int, str]]:
    """Where tables of constructors begin and end, and the sections that they are in: those that a loader is told of,
    and those with names that linkers know."""
    told = image.tables_at_loading
    for low, high in told:
        section = image.section_at(low)
        yield low, high, section.name if section is not None else ""
    for section in sorted(image.sections, key=lambda section: _order(section.name)):
        is_told = any(low <= section.address and section.end <= high for low, high in told)
        if is_one_of(section.name, _TABLES) and not is_told:
            yield section.address, section.end, section.name


def _order(name: str) -> tuple[int, int]:
    """Sort key for when the constructors of a section run: a linker sorts sections by the number in their names, and
    those without one come last. In `.ctors` the order is reversed."""
    table = next((index for index, start in enumerate(_TABLES) if is_one_of(name, (start,))), len(_TABLES))
    number = name.rpartition(".")[2]
    if not number.isdecimal():
        return table, _NO_PRIORITY
    return table, _NO_PRIORITY - int(number) if is_one_of(name, (_REVERSED,)) else int(number)


def _name(image: Image, entry: int) -> str:
    symbol = image.symbol_at(entry)
    return symbol.name if symbol is not None else "a constructor without a name"
