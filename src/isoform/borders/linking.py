"""What a linker or loader may still change: definitions that give way to those of other files."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from isoform.borders.library import callees
from isoform.lift.cfg import SELF
from isoform.lift.function import Call, Function
from isoform.load.image import Image, Symbol
from isoform.load.section_names import is_offset_table
from isoform.model.microop import number_of
from isoform.model.verdict import Assumption

SHOWN_NAMES = 4


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
        if not follow or not is_offset_table(section.name) or own + 8 > section.end:
            return None
        start = own - section.address
        return self.name_at(int.from_bytes(section.data[start : start + 8], self._image.byte_order), follow=False)
