"""Callees that were shown to do the same are outside functions of one name for their callers.

What an outside function is: for equal arguments and memory it has equal results and leaves equal memory. That is what
was shown of the two callees, under two conditions which are checked here: they use nothing but their declared arguments
and memory, and are declared alike on both sides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from isoform.borders.convention import place_signature
from isoform.diff.inputs import NOTHING, Bytes, argument_bytes, passed_bytes, used_at_entry, uses_only
from isoform.diff.keeps import Keeper
from isoform.diff.unit import Unit
from isoform.engines.same_code.walk import Walk, Walker
from isoform.isa.registry import machine
from isoform.load.image import Image
from isoform.load.known import known_signature
from isoform.load.open import Loaded
from isoform.model.errors import Unsupported, UserError
from isoform.model.library import is_reserved, library_function
from isoform.model.library_function import LibraryFunction
from isoform.model.placement import Placement
from isoform.model.signature import Signature, TypeKind
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption

_NAME = "callees-shown"
_SIMPLE = (TypeKind.INTEGER, TypeKind.POINTER, TypeKind.BOOL, TypeKind.FLOAT, TypeKind.VOID)
REFUSED = frozenset(
    {"padding-unread", "restrict", "signature-from-liveness", "signature-declared-once", "target-signature"}
)
"""What the proof about a callee must not rest on: its callers see padding, pass what its declaration says, and were not
shown to pass pointers that do not overlap."""
_MOST_FLOAT = 64


@dataclass(frozen=True)
class Shown:
    """A callee that does the same on both sides."""

    entries: tuple[int, int]
    name: str
    signatures: tuple[Signature, Signature]


def callees_shown(names: Iterable[str]) -> Assumption:
    listed = ", ".join(sorted(names))
    why = "shown to do the same by questions of their own, and taken to use nothing but their arguments and memory"
    return Assumption(_NAME, f"{listed}: {why}")


class Composer:
    """For the functions of one unit."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._machine = machine(unit.pair.images[0].machine)
        self._known: dict[tuple[int, int], Shown | None] = {}
        self._keepers: dict[int, Keeper] = {}

    def shown(self, entries: tuple[int, int], assumptions: Sequence[str]) -> Shown | None:
        """The callee as an outside function; None if it cannot count as one. `assumptions` are those by which the two
        were shown to do the same."""
        if REFUSED & set(assumptions) or self._unit.identical.why_never:
            return None
        if entries not in self._known:
            self._known[entries] = self._shown(entries)
        return self._known[entries]

    def _shown(self, entries: tuple[int, int]) -> Shown | None:
        loaded = self._unit.pair.loaded(self._unit.symbols(entries))
        names = [side.symbol.name for side in loaded]
        signatures = [side.image.signatures.get(name) for side, name in zip(loaded, names, strict=True)]
        left, right = signatures
        if left is None or right is None or any(map(_is_library, names)):
            return None
        if not all(_is_only_one(side) for side in loaded) or len({*map(_is_replaceable, loaded)}) > 1:
            return None
        placements = [self._placement(signature) for signature in (left, right)]
        if placements[0] is None or not _agree(left, right) or placements[1] is None:
            return None
        name = names[0] if names[0] == names[1] else f"{names[0]}/{names[1]}"
        if any(name in side.image.externals.values() for side in loaded):
            return None
        for number, placement in enumerate(placements):
            if not self._uses_only(number, entries[number], placement, loaded[number]):
                return None
        return Shown(entries, name, (left, right))

    def _placement(self, signature: Signature) -> Placement | None:
        types = [signature.result, *(parameter.type for parameter in signature.parameters)]
        is_wide = any(one.kind is TypeKind.FLOAT and one.bits > _MOST_FLOAT for one in types)
        if signature.variadic or not signature.returns or signature.convention or is_wide:
            return None
        if any(one.kind not in _SIMPLE for one in types):
            return None
        try:
            return place_signature(self._machine, signature)
        except (Unsupported, UserError):
            return None

    def _uses_only(self, side: int, entry: int, placement: Placement | None, loaded: Loaded) -> bool:
        if placement is None:
            return False
        image = self._unit.pair.together[side].image
        walker = self._unit.identical.walkers[side]

        taken = partial(self._taken, loaded, walker, image.externals)

        def reads(callee: int) -> Bytes | None:
            if callee in image.externals or not image.code_at(callee):
                return taken(callee)
            return made.setdefault(callee, NOTHING)

        def used(callee: int) -> Bytes | None:
            """By a function of the file: what it is declared to take, and what its own code uses. That may be more, in
            assembly and in functions inside others, and is all that is known of those that compilers make of others
            (`f.constprop.0`) and that no declaration describes."""
            own = used_at_entry(self._machine, walker.walk(callee), NOTHING, reads)
            if own is None or made[callee] is None:
                return None
            symbol = walker.function_at(callee)
            declared = symbol is not None and symbol.name in loaded.image.signatures
            return own | ((taken(callee) or passed_bytes(self._machine)) if declared else NOTHING)

        made: dict[int, Bytes | None] = {}
        """Grows until nothing changes: functions may call each other."""

        def walk(callee: int) -> Walk | None:
            return walker.walk(callee) if image.code_at(callee) else None

        keeper = self._keepers.setdefault(side, Keeper(self._machine, walk))
        before = None
        while made != before:
            if not keeper.keeps(entry) or not uses_only(self._machine, walker.walk(entry), placement, reads):
                return False
            before = dict(made)
            for callee in before:
                made[callee] = used(callee)
        return True

    def _taken(self, loaded: Loaded, walker: Walker, externals: Mapping[int, str], callee: int) -> Bytes | None:
        """By declaration. None if that is not known."""
        name = externals.get(callee)
        symbol = walker.function_at(callee)
        called = name or (symbol.name if symbol is not None else "")
        declared = loaded.image.signatures.get(called) or (known_signature(called) if name else None)
        where = self._placement(declared) if declared is not None else None
        return None if where is None else argument_bytes(self._machine, where.arguments)


def _agree(left: Signature, right: Signature) -> bool:
    """Whether two declarations say the same of how a function is called."""
    sides = [[one.result, *(p.type for p in one.parameters)] for one in (left, right)]
    shapes = [[(kind.kind, kind.bits, kind.signed) for kind in side] for side in sides]
    return shapes[0] == shapes[1]


def _is_only_one(loaded: Loaded) -> bool:
    """Whether no other function of the file has its name, so that the name means this one."""
    own = loaded.symbol
    return not any(s.is_function and s.name == own.name and s.address != own.address for s in loaded.image.symbols)


def _is_replaceable(loaded: Loaded) -> bool:
    """Whether other files could replace the function when they are linked: on both sides by the same one, but on one
    side only, the name does not mean this function there."""
    own = loaded.symbol.address
    return any(s.replaceable for s in loaded.image.symbols if s.is_function and s.address == own)


def _is_library(name: str) -> bool:
    """Whether a name means something to the engines."""
    plain = name.lstrip("_")
    return is_reserved(name) or known_signature(name) is not None or library_function(plain) != LibraryFunction(plain)


def with_outside(loaded: Loaded, side: int, callees: Sequence[Shown]) -> Loaded:
    """One side with these callees as functions that are not here."""
    together = loaded.together

    def moved() -> tuple[Loaded, Loaded]:
        assert together is not None
        left, right = together()
        return with_outside(left, 0, callees), with_outside(right, 1, callees)

    image = _image(loaded.image, side, callees)
    return replace(loaded, image=image, together=None if together is None else moved)


def _image(image: Image, side: int, callees: Sequence[Shown]) -> Image:
    at = {one.entries[side]: one.name for one in callees}
    signatures = {one.name: replace(one.signatures[side], name=one.name) for one in callees}
    return replace(
        image,
        externals={**image.externals, **at},
        symbols=tuple(s for s in image.symbols if not (s.is_function and s.address in at)),
        signatures={**image.signatures, **signatures},
    )
