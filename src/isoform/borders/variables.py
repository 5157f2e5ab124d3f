"""Variables of which both files say the same type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from isoform.lift.function import Function, named_objects
from isoform.load.image import Symbol
from isoform.model.signature import CType


def declared_alike(
    target: Function, rewrite: Function, left: Mapping[str, CType], right: Mapping[str, CType]
) -> Iterator[tuple[Symbol, int, int, CType]]:
    """The variables that either function names and both sides declare with the same layout, with the address that both
    sides have them at, and how far before it the room for them begins. `left` and `right` are the types by name;
    compilers spell one type differently."""
    named = {first: room for function in (target, rewrite) for first, room in _named(function)}
    for symbol in target.image.symbols:
        start, kind = target.image.shared_address(symbol.address), left.get(symbol.name)
        other = right.get(symbol.name)
        if start in named and kind is not None and other is not None and _layout(kind) == _layout(other):
            yield symbol, start, named[start], kind


def _named(function: Function) -> Iterator[tuple[int, int]]:
    """Where the objects begin that a function names, and how much room is before them."""
    objects = function.image.objects.by_start
    for start in named_objects(function):
        room = objects[start].skipped if start in objects else 0
        yield start + room, room


def _layout(kind: CType) -> tuple[object, ...]:
    return kind.bits, kind.padding, tuple(kind.bool_offsets()), tuple(kind.room_offsets())
