"""Constructors: functions that run when a file is loaded. They may change data before anything else reads it, so that
its contents are no longer those in the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from isoform.borders.apart import Apart
from isoform.borders.contents import SharedContents
from isoform.borders.reach import Reach, reach
from isoform.borders.same_code import is_same_code
from isoform.lift.function import Call, Function
from isoform.lift.lift import lift
from isoform.lift.refusals import is_refused
from isoform.load.image import Image
from isoform.model.errors import Unsupported, UserError
from isoform.model.machine import Machine
from isoform.model.microop import Kind, number_of
from isoform.model.values import dataclass

_TABLES = (".preinit_array", ".init_array", ".ctors")
_OF_THE_COMPILER = frozenset({"frame_dummy"})
"""Added to every linked file by the compiler."""
_REGISTERS_CLONES = "_ITM_registerTMCloneTable"
_WORD = 8
_NO_PRIORITY = 65535
"""The lowest that a compiler gives."""


@dataclass(frozen=True)
class Initialiser:
    name: str
    entry: int
    uses: Reach


def initialisers(machine: Machine, image: Image) -> tuple[Initialiser, ...]:
    """In the order in which they run, without the compiler's own."""
    found = []
    for entry in initialiser_entries(image):
        name = _name(image, entry)
        try:
            function = lift(image, machine, name, entry)
        except (Unsupported, UserError):
            found.append(Initialiser(name, entry, Reach(frozenset(), frozenset(), complete=False)))
            continue
        if not (image.is_linked and _only_registers_clones(function)):
            uses = reach(function)
            found.append(Initialiser(name, entry, replace(uses, complete=False) if is_refused(function) else uses))
    return tuple(found)


def _only_registers_clones(function: Function) -> bool:
    """Whether it is `frame_dummy`, in a file without symbols: it neither stores nor reads anything, and jumps only to
    the function of libitm that is given the table of transactional clones, if there is one."""
    externals = function.image.externals
    ops = [op for instruction in function.instructions.values() for op in instruction.ops]
    kinds = Counter(op.kind for op in ops)
    numbers = (number_of(var) for op in ops for var in op.ins)
    named = {externals[number] for number in numbers if number is not None and number in externals}
    reads_only_return_address = kinds[Kind.LOAD] <= kinds[Kind.RETURN]
    calls = any(isinstance(block.exit, Call) for block in function.blocks.values())
    return named == {_REGISTERS_CLONES} and not calls and not kinds[Kind.STORE] and reads_only_return_address


def are_alike(
    machine: Machine,
    images: tuple[Image, Image],
    sides: tuple[Sequence[Initialiser], Sequence[Initialiser]],
    apart: Sequence[Apart],
) -> bool:
    """Whether the initialisers of both sides are the same code with the same constants in the same order, and use
    nothing that is `apart`."""
    contents = SharedContents(*images)
    return len(sides[0]) == len(sides[1]) and all(
        one.uses.complete
        and not contents.apart(one.uses.data, apart)
        and not any(part.low in one.uses.functions for part in apart)
        and is_same_code(machine, images, (one.entry, other.entry))
        for one, other in zip(*sides, strict=True)
    )


def initialiser_entries(image: Image) -> Iterator[int]:
    """Where the code of each is, in the order in which they run."""
    for address in image.at_loading:
        if image.code_at(address):
            yield address
    for section in sorted(image.sections, key=lambda section: _order(section.name)):
        if section.name.startswith(_TABLES):
            for start in range(0, len(section.data) - _WORD + 1, _WORD):
                address = int.from_bytes(section.data[start : start + _WORD], image.byte_order)
                own = image.aliases.get(address, address)
                of_compiler = image.is_linked and _name(image, own) in _OF_THE_COMPILER
                if image.code_at(own) and not of_compiler:
                    yield own


def _order(name: str) -> tuple[int, int]:
    """Sort key for when the constructors of a section run: a linker sorts sections by the number in their names, and
    those without one come last. In `.ctors` the order is reversed."""
    table = next((index for index, start in enumerate(_TABLES) if name.startswith(start)), len(_TABLES))
    number = name.rpartition(".")[2]
    if not number.isdecimal():
        return table, _NO_PRIORITY
    return table, _NO_PRIORITY - int(number) if name.startswith(".ctors") else int(number)


def _name(image: Image, entry: int) -> str:
    symbol = image.symbol_at(entry)
    return symbol.name if symbol is not None else "a constructor without a name"
