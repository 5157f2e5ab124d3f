"""Addresses in code that may be meant for something else than what is there.

`t[i - 1000]` is compiled with a base that lies in another object, or in none. Such an address means the same on both
sides where all data of both files is the same; otherwise it must be clear what is meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from isoform.engines.same_code.meaning import Meanings, Object, Slot, Unnamed
from isoform.engines.same_code.walk import LONGEST, Role, Walker
from isoform.lift.function import Function
from isoform.lift.lift import lift
from isoform.lift.moving import moving_bases
from isoform.lift.object_flow import is_of_bound
from isoform.lift.refusals import has_ambiguous_bases, leaves_objects
from isoform.model.errors import Unsupported, UserError

_Entries = tuple[int, int]


class Bases:
    """In the code of two files."""

    def __init__(self, meanings: Sequence[Meanings], walkers: Sequence[Walker]) -> None:
        self._meanings, self._walkers = meanings, walkers
        self._images = [m.image for m in meanings]
        self._known: dict[tuple[_Entries, bool], str] = {}

    def why_unclear(self, entries: _Entries, of_names: bool) -> str:
        """Why it is not clear what the addresses of data in two functions mean; "" if it is. `of_names`: of named
        objects, else of constants without a name."""
        key = entries, of_names
        if key not in self._known:
            try:
                self._known[key] = self._why_ambiguous(entries) if of_names else self._why_counted(entries)
            except (Unsupported, UserError) as reason:
                self._known[key] = str(reason)
        return self._known[key]

    def left(self, entries: _Entries) -> set[str]:
        """Objects that code may count out of. Relocations, or the global offset table, name them, so that these are
        meant, and what lies around them was not compared."""
        return set().union(*(self._left_by(side, entry) for side, entry in enumerate(entries)))

    def _left_by(self, side: int, entry: int) -> set[str]:
        walker, meanings = self._walkers[side], self._meanings[side]
        references = walker.walk(entry).references
        formed = [meanings.of(one.number) for one in references if one.role is Role.FORM]
        slots = [meanings.of(one.number) for one in references]
        formed += [slot.holds for slot in slots if isinstance(slot, Slot)]
        names = {min(meaning.names) for meaning in formed if isinstance(meaning, Object)}
        try:
            function = _lifted(walker, entry)
        except (Unsupported, UserError):
            return names
        # How far is only known in object files. What gets an address may count from it, too.
        moving = moving_bases(function)
        is_counted = walker.image.is_linked and _has_bounds(function)
        return names if is_counted or moving.given or leaves_objects(function) else set()

    @cached_property
    def has_same_layout(self) -> bool:
        left, right = self._meanings
        return left.layout == right.layout

    def _why_ambiguous(self, entries: _Entries) -> str:
        if not all(image.is_linked for image in self._images):
            if all(self._names_objects(side, entry) for side, entry in enumerate(entries)):
                return ""
            if not self.has_same_layout:
                return "data lies differently in the two files, and an address may be meant for any of it"
        sides = [_lifted(walker, entry) for walker, entry in zip(self._walkers, entries, strict=True)]
        ambiguous = has_ambiguous_bases(*sides) or any(leaves_objects(side) for side in sides)
        return "an address in it may be meant for one object or for another beside it" if ambiguous else ""

    def _why_counted(self, entries: _Entries) -> str:
        sides = zip(self._meanings, self._walkers, entries, strict=True)
        is_counted = any(counts_from_unnamed(*side) for side in sides)
        return "it counts from the address of a constant without a name" if is_counted else ""

    def _names_objects(self, side: int, entry: int) -> bool:
        """Whether the relocations of an object file name the objects that its addresses are in."""
        image, meanings = self._images[side], self._meanings[side]
        for one in self._walkers[side].walk(entry).references:
            meaning = meanings.of(one.number)
            if one.role is Role.FORM and isinstance(meaning, Object):
                fields = range(one.place, one.place + LONGEST)
                meant = next((image.meant[place] for place in fields if place in image.meant), None)
                if meant is None or not meant.is_one or not any(a <= meaning.start < b for a, b in meant.ranges):
                    return False
        return True


def counts_from_unnamed(meanings: Meanings, walker: Walker, entry: int) -> bool:
    """Whether code counts from the address of a constant without a name, and may leave the text there. Such an address
    may be the base of another constant, of which nothing was compared. Raises `Unsupported` or `UserError` if it cannot
    be followed."""
    formed = [
        one
        for one in walker.walk(entry).references
        if one.role is Role.FORM and isinstance(meanings.of(one.number), Unnamed)
    ]
    if not formed:
        return False
    function = _lifted(walker, entry)
    counted = moving_bases(function).counted
    return any(
        one.place not in function.instructions or not _stays(meanings, one.number, counted.get(one.number, 0))
        for one in formed
    )


def _has_bounds(function: Function) -> bool:
    return any(is_of_bound(op) for block in function.blocks.values() for op in block.ops)


def _stays(meanings: Meanings, number: int, most: int | None) -> bool:
    """Whether code that adds so much to the address of a text at most stays in it."""
    text = meanings.text(meanings.image.own_address(number))
    return most == 0 or (most is not None and text is not None and most <= len(text))


def _lifted(walker: Walker, entry: int) -> Function:
    return lift(walker.image, walker.machine, "a function", entry, inline=False)
