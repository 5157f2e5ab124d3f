"""Companions: functions that the compared ones can reach by address, and may pass on.

The address of a function stands for what it does. Two functions of one name have one address, so they must be shown to
do the same before anything may be concluded from equal addresses. While one pair is asked about, all undecided pairs
count as the same. This is induction on the number of steps: what a pair does in n steps rests on what others do in
fewer. If a pair turns out different or undecided, all pairs that rest on it are asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property

from isoform.borders.apart import Apart, ApartKind, Border, Images
from isoform.borders.contents import SharedContents
from isoform.borders.initialisers import Initialiser, are_alike, initialisers
from isoform.borders.linking import same_code_assumptions
from isoform.borders.objects import Range, is_thread_local
from isoform.borders.reach import MOST_OBJECTS, Reach, reach, uses_thread_pointer
from isoform.borders.same_code import is_same_code, is_same_kind
from isoform.lift.function import Function
from isoform.lift.refusals import is_refused
from isoform.load.image import Image, Symbol
from isoform.model.errors import Unsupported, UserError
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption, Companion, Different, Equivalent, Verdict

MOST_COMPANIONS = 512
"""Most of them are settled by their code being the same, in milliseconds each."""

Names = tuple[str, str]
Entries = tuple[int, int]
Ask = Callable[[Names, Entries, Border], Verdict]
"""The verdict on the two functions that are at one address, with what is known to be apart."""
Lift = Callable[[str, int, int], Function]
"""The function of a name at an address of its own on one side."""
CODE_IS_THE_SAME = "its code is the same"


@dataclass
class _Companion:
    address: int
    names: Names
    entries: Entries
    same_code: bool
    uses: Reach
    """Of both sides, as far as they could be lifted."""
    lifted: bool = True
    """Whether both could be."""
    rests_on: tuple[Assumption, ...] = ()
    """What is assumed of linking if the two are the same code."""
    found: Companion | None = None
    """The result, if the two were not shown to be the same."""
    proved: Verdict | None = None
    left_out: bool = False
    """Whether it counts as the same only because companions are not asked about (`--calls uninterpreted`)."""

    @property
    def name(self) -> str:
        return self.names[0]


@dataclass
class Companions:
    functions: tuple[Function, Function]
    lift: Lift
    compared: bool
    """Whether a companion of the compared functions' own name is the very question that is asked."""
    initial: bool
    """Whether what data holds at first counts."""
    asks: bool
    """Whether companions are asked about, or taken to agree."""
    all: dict[int, _Companion] = field(default_factory=dict)
    _seen: set[int] = field(default_factory=set)
    """Addresses of functions that were looked at."""

    def collect(self) -> None:
        """Everything that the two can reach, through the companions too, and what the initialisers of the data they use
        may have stored there. Nothing may be left out: what is not compared counts as the same."""
        pending = [reach(function) for function in self.functions]
        self.own = _union(pending)
        if self.initial and SharedContents(*self.images).writable(self.own.data):
            self._refuse_other_initialisers(self.own, ())  # before looking at the whole library of a static program
        followed: list[Reach] = []
        while pending:
            self._follow(pending)
            followed += pending
            pending = [uses for uses in self._of_initialisers() if uses not in followed]

    def _of_initialisers(self) -> Iterator[Reach]:
        """What the initialisers use that may write data which is compared."""
        reached = self._compared.data if self.initial else ()
        for one in (one for side in self._initialisers for one in side) if reached else ():
            if one.uses.complete and _overlap(one.uses.data, reached):
                yield one.uses

    def _follow(self, roots: Iterable[Reach]) -> None:
        pending = list(roots)
        while pending:
            uses = pending.pop()
            if not uses.complete:
                raise Unsupported(f"the two can get at more than {MOST_OBJECTS} objects by their addresses")
            for address in sorted(uses.functions - self._seen):
                self._seen.add(address)
                if len(self.all) >= MOST_COMPANIONS:
                    raise Unsupported(f"the two can get at more than {MOST_COMPANIONS} functions by their addresses")
                found = self._companion(address)
                if found is not None:
                    self.all[address] = found
                    pending.append(found.uses)

    @cached_property
    def _initialisers(self) -> tuple[tuple[Initialiser, ...], tuple[Initialiser, ...]]:
        left, right = (initialisers(function.machine, function.image) for function in self.functions)
        return left, right

    @property
    def _compared(self) -> Reach:
        """What the two functions and all companions can reach, except constructors that only their table leads to."""
        uses = [self.own, *(one.uses for one in self.all.values())]
        strays = _union(uses).strays
        return _union([self.own, *(one.uses for one in self.all.values() if one.address not in strays)])

    @property
    def images(self) -> Images:
        return self.functions[0].image, self.functions[1].image

    def _companion(self, address: int) -> _Companion | None:
        images = self.images
        found = [image.aliases.get(address, image.resolvers.get(address)) for image in images]
        if found[0] is None or found[1] is None:
            return self._chosen_on_one_side(address)
        entries = found[0], found[1]
        names = _names(images, entries)
        own = all(f.entry.address == entry for f, entry in zip(self.functions, entries, strict=True))
        if self.compared and own:
            return None
        machines = [function.machine for function in self.functions]
        same = machines[0].name == machines[1].name and is_same_code(machines[0], images, entries)
        lifted = []
        for side in range(2):
            with suppress(Unsupported, UserError):
                lifted.append(self.lift(names[side], entries[side], side))
        both = len(lifted) == 2
        same = same and both and not any(is_refused(function) or function.inlined for function in lifted)
        rests_on = same_code_assumptions(*lifted) if both else ()
        uses = _union([reach(function) for function in lifted])
        same = same and is_same_kind(images, uses.data)
        return _Companion(address, names, entries, same, uses, both, rests_on)

    def _chosen_on_one_side(self, address: int) -> _Companion | None:
        """A function that a resolver chooses in one file, and that the other file only names."""
        names = [image.externals[address] for image in self.images if address in image.resolvers]
        if not names:
            return None
        found = Companion(names[0], "unknown", "it is chosen by a resolver that only one of the files has")
        return _Companion(address, (names[0], names[0]), (0, 0), False, Reach(frozenset(), frozenset()), found=found)

    def _refuse_choices(self) -> None:
        """A call of a function that a resolver chooses is compared by name, so both sides must choose the same."""
        called = self.own.chosen.union(*(one.uses.chosen for one in self.all.values()))
        for address, one in self.all.items():
            if address in called and one.found is not None:
                name = self.images[0].externals.get(address) or self.images[1].externals.get(address)
                raise Unsupported(
                    f"a resolver chooses {name} when the file is loaded, and it was not shown that both choose the same"
                )

    def _refuse_other_sizes(self) -> None:
        """Ends the question if an object that the two can reach is larger on one side: there is nothing to compare the
        rest with, and an index inside the one may be outside the other."""
        left, right = (_sizes(image) for image in self.images)
        all_uses = (self.own, *(one.uses for one in self.all.values()))
        # Every small number is near a thread-local object; it means one only beside the thread pointer.
        threads = bool(self.all) or any(uses_thread_pointer(function) for function in self.functions)
        reached = {extent for uses in all_uses for extent in uses.data if threads or not is_thread_local(extent[0])}
        for start in left.keys() & right.keys():
            (name, one), (_, other) = left[start], right[start]
            if one != other and any(low < start + max(one, other) and start < high for low, high in reached):
                raise Unsupported(f"{name} has {one} bytes in the target and {other} in the rewrite")
        for data, image in ((left, self.images[1]), (right, self.images[0])):
            functions = {symbol.name for symbol in image.symbols if symbol.is_function and not symbol.is_local}
            for start, (name, size) in data.items():
                if name in functions and any(low < start + size and start < high for low, high in reached):
                    raise Unsupported(f"{name} is a function on one side and a variable on the other")

    def _refuse_other_aliases(self) -> None:
        """Ends the question if two names stand for one function in one file and not in the other: their addresses are
        equal in the one, and here each name has an address of its own."""
        groups = [self._one_function(image) for image in self.images]
        for group in groups[0] ^ groups[1]:
            names = " and ".join(self._name_of(address) for address in sorted(group))
            raise Unsupported(f"{names} are one function in one file, and not in the other")

    def _one_function(self, image: Image) -> set[frozenset[int]]:
        """Addresses that stand for one function of a file under several names."""
        groups: dict[int, set[int]] = {}
        for address in self._seen & image.aliases.keys():
            if (
                image.objects.around(address) is not None
            ):  # and not a stub of the linker, which is another address of it
                groups.setdefault(image.aliases[address], set()).add(address)
        return {frozenset(group) for group in groups.values() if len(group) > 1}

    def _name_of(self, address: int) -> str:
        known = (image.objects.around(address) for image in self.images)
        return next((item.name for item in known if item is not None), hex(address))

    def settle(self, ask: Ask) -> Border:
        """What the two can reach that is not the same on both sides."""
        self.collect()
        self._refuse_other_sizes()
        self._refuse_other_aliases()
        contents = SharedContents(*self.images)
        border = self._border(contents)
        asked: dict[int, tuple[Apart, ...]] = {}
        changed = True
        while changed:
            changed = False
            for companion in self.all.values():
                if companion.found is not None:
                    continue
                met = self._met(companion, border.apart)
                if companion.same_code and companion.lifted and not met:
                    continue
                if asked.get(companion.address) == met:
                    continue
                asked[companion.address] = met
                companion.left_out = not self.asks
                if self.asks:
                    self._ask(companion, ask, border)
                if companion.found is not None:
                    border, changed = self._border(contents), True
        self._refuse_choices()
        data = contents.writable(self.own.named) if self.own.named else {}
        assumptions = (*self._assumptions(), *self._about_data(contents))
        return replace(border, companions=self._shown(), assumptions=assumptions, data=tuple(data))

    def _about_data(self, contents: SharedContents) -> Iterator[Assumption]:
        """What is taken to be the same though the files do not say so."""
        named = self._compared.named
        data = contents.writable(named) if named else {}
        alone = [name for name, in_both in data.items() if not in_both]
        unlike = sorted(
            {one.name for one in contents.apart(named, self._functions_apart()) if one.kind is ApartKind.DATA}
        )
        whys = []
        if alone:
            whys.append(f"{', '.join(alone)}, which only one of the files defines, holds the same on both sides")
        if unlike and not self.initial:
            whys.append(f"{', '.join(unlike)} holds the same on both sides, though at first it does not (--data any)")
        touched = contents.writable(self._compared.data) if self.initial else {}
        unseen = self._unseen_initialisers() if touched else []
        if unseen:
            what = f"{', '.join(unseen)}, which run when the files are loaded,"
            whys.append(f"{what} leave the same in {', '.join(data or touched)} on both sides")
        if whys:
            yield Assumption("same-data", "; ".join(whys))
        other = sorted(self._replaceable_on_one_side())
        if other:
            why = f"other files could replace the definitions of {', '.join(other)} when they are linked, and do not"
            yield Assumption("not-interposed", why)
        if contents.rests_on_texts:
            yield Assumption("texts-end-at-zero", "a text among the constants of a linked file ends at its first zero")

    def _replaceable_on_one_side(self) -> set[str]:
        """Names of variables that the two can reach, and that other files may replace in one of the two files only."""
        named = self._compared.named
        found = [
            {s.name for s in image.symbols if s.replaceable and not s.is_function and _is_in(image, s, named)}
            for image in self.images
        ]
        return found[0] ^ found[1]

    def _unseen_initialisers(self) -> list[str]:
        """Names of constructors that differ between the two sides and might write data that is compared."""
        compared = self._compared
        if not self._refuse_other_initialisers(compared, self._functions_apart()):
            return []
        every = (first for side in self._initialisers for first in side)
        names = (f.name for f in every if not f.uses.complete or _overlap(f.uses.data, compared.data))
        return list(dict.fromkeys(names))

    def _refuse_other_initialisers(self, compared: Reach, apart: Sequence[Apart]) -> bool:
        """Ends the question if constructors differ between the two sides and use data that is compared. Returns whether
        they differ. The more is compared and the more is apart, the sooner."""
        one, other = (function.machine for function in self.functions)
        if one.name == other.name and are_alike(one, self.images, self._initialisers, apart):
            return False
        for first in (first for side in self._initialisers for first in side):
            if first.is_piece:
                raise Unsupported("code in section .init runs when the file is loaded, and is not followed")
            if _overlap(first.uses.meant, compared.meant):
                raise Unsupported(
                    f"{first.name} runs when the file is loaded, uses the same data, and is not the same code"
                )
        return True

    def _met(self, companion: _Companion, apart: Sequence[Apart]) -> tuple[Apart, ...]:
        """What a companion can reach that is not the same."""
        extents = companion.uses.data
        return tuple(
            one
            for one in apart
            if one.low in companion.uses.functions or any(low < one.high and one.low < high for low, high in extents)
        )

    def _ask(self, companion: _Companion, ask: Ask, border: Border) -> None:
        verdict = ask(companion.names, companion.entries, border)
        rests_on = {a.name for a in verdict.assumptions}
        if isinstance(verdict, Equivalent) and "padding-unread" in rests_on:
            # Whoever calls it may read the padding, the compared functions among them.
            companion.found = Companion(companion.name, "unknown", "the same but for the padding that it leaves")
        elif isinstance(verdict, Equivalent) and "restrict" in rests_on:
            # Nothing shows that the compared functions call it with pointers that do not overlap.
            companion.found = Companion(companion.name, "unknown", "the same if its restrict pointers do not overlap")
        elif isinstance(verdict, Equivalent):
            companion.proved = verdict
        elif isinstance(verdict, Different):
            companion.found = _different(companion.name, verdict)
        else:
            why = getattr(verdict, "why", "")
            companion.found = Companion(companion.name, "unknown", why)

    def _functions_apart(self) -> list[Apart]:
        return [
            Apart(
                ApartKind.FUNCTION,
                one.address,
                one.address + 1,
                one.name,
                *_sides(one.found),
                one.found.verdict == "different",
            )
            for one in self.all.values()
            if one.found is not None
        ]

    def _border(self, contents: SharedContents) -> Border:
        functions = self._functions_apart()
        extents = set(self.own.data).union(*(one.uses.data for one in self.all.values()))
        sure = set(self.own.data - self.own.unsure).union(
            *(one.uses.data - one.uses.unsure for one in self.all.values())
        )
        data = [
            # What is reached only because an address may mean any object of a section makes no difference certain.
            one if _overlap([one.whole or (one.low, one.high)], sure) else replace(one, certain=False)
            for one in contents.apart(extents, functions)
        ]
        if not self.initial:
            data = [one for one in data if one.kind is not ApartKind.DATA]
        return Border((*functions, *data))

    def _shown(self) -> tuple[Companion, ...]:
        shown = []
        for one in self.all.values():
            if one.found is not None:
                shown.append(one.found)
            elif one.left_out:
                shown.append(Companion(one.name, "unknown", "taken to agree: see callees-agree"))
            elif one.proved is not None:
                shown.append(Companion(one.name, "equivalent", f"proved by {one.proved.engine}"))
            else:
                shown.append(Companion(one.name, "equivalent", CODE_IS_THE_SAME))
        return tuple(shown)

    def _assumptions(self) -> tuple[Assumption, ...]:
        """What the proofs of companions rest on."""
        proofs = [one.proved for one in self.all.values() if one.proved is not None and one.found is None]
        found = [assumption for proof in proofs for assumption in proof.assumptions]
        found += [a for one in self.all.values() if one.found is None for a in one.rests_on]
        left_out = sorted(one.name for one in self.all.values() if one.left_out)
        if left_out:
            why = f"{', '.join(left_out)} behave alike on both sides: --calls uninterpreted does not compare them"
            found.append(Assumption("callees-agree", why))
        return tuple(found)


def _names(images: Images, entries: Entries) -> Names:
    """What the functions at two addresses are called: the same, if they have a name in common."""
    at = [
        sorted({s.name for s in image.symbols if s.is_function and s.address == entry})
        for image, entry in zip(images, entries, strict=True)
    ]
    common = [name for name in at[0] if name in at[1]]
    left, right = (common[:1] or names or [f"{entry:#x}"] for names, entry in zip(at, entries, strict=True))
    return left[0], right[0]


def _is_in(image: Image, symbol: Symbol, ranges: Collection[Range]) -> bool:
    start = image.shared_address(symbol.address)
    return any(low <= start < high for low, high in ranges)


def _overlap(some: Iterable[Range], others: Collection[Range]) -> bool:
    return any(low < other_high and other_low < high for low, high in some for other_low, other_high in others)


def _sizes(image: Image) -> dict[int, tuple[str, int]]:
    """Name and size of the largest object at each address that both sides share."""
    found: dict[int, tuple[str, int]] = {}
    for symbol in image.symbols:
        start = image.shared_address(symbol.address)
        if symbol.size and not symbol.is_function and symbol.size > found.get(start, ("", 0))[1]:
            found[start] = symbol.name, symbol.size
    return found


def _union(parts: Sequence[Reach]) -> Reach:
    functions: frozenset[int] = frozenset().union(*(part.functions for part in parts))
    data: frozenset[Range] = frozenset().union(*(part.data for part in parts))
    named: frozenset[Range] = frozenset().union(*(part.named for part in parts))
    chosen: frozenset[int] = frozenset().union(*(part.chosen for part in parts))
    sure: frozenset[Range] = frozenset().union(*(part.data - part.unsure for part in parts))
    known: frozenset[int] = frozenset().union(*(part.functions - part.strays for part in parts))
    meant: frozenset[Range] = frozenset().union(*(part.meant for part in parts))
    complete = all(part.complete for part in parts)
    return Reach(functions, data, named, complete, chosen, data - sure, meant, functions - known)


def _sides(found: Companion) -> tuple[str, str]:
    if found.verdict != "different":
        return "not decided", "not decided"
    return found.target, found.rewrite


def _different(name: str, verdict: Different) -> Companion:
    """The companion with its witness in words."""
    witness = verdict.witness
    call = f"{name}({', '.join(f'{parameter} = {value}' for parameter, value in witness.shown)})"
    first = witness.differences[0]
    sides = [f"{first.what} {said}" for said in (first.target, first.rewrite)]
    why = f"for {call} {first.what} is {first.target} in the target and {first.rewrite} in the rewrite"
    return Companion(name, "different", why, sides[0], sides[1])
