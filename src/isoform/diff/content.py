"""A digest of everything that the answer about a function depends on in its file.

Its own code and that of all functions that it leads to, the data that these refer to, and how both are declared. What
an address stands for is written as a name and a distance, so that the digest does not change when something else in the
file does. Where it is not known what an address stands for, the digest is that of the whole file: then nothing that was
answered about another file counts.
"""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256

from isoform.borders.initialisers import initialiser_entries
from isoform.engines.same_code.bases import counts_from_unnamed
from isoform.engines.same_code.code_addresses import counts_from_code
from isoform.engines.same_code.meaning import (
    LEAST_SAME,
    SLOT_SIZE,
    Code,
    Meaning,
    Meanings,
    Object,
    Outside,
    Slot,
    Unnamed,
)
from isoform.engines.same_code.unnamed import Unnameds
from isoform.engines.same_code.walk import Role, Walk, Walker
from isoform.load.image import Image
from isoform.model.errors import Unsupported, UserError
from isoform.model.values import dataclass


@dataclass(frozen=True)
class Content:
    digest: str
    names: frozenset[str] | None = None
    """Of all functions that it leads to; None: any of the file may be one."""
    entries: frozenset[int] = frozenset()
    """Of those in the file."""


class Contents:
    """Of one file."""

    def __init__(self, image: Image, walker: Walker | None, whole: str, has_threads: bool) -> None:
        self.image = image
        self._walker = walker
        self.whole = whole
        """A digest of all of it."""
        self._has_threads = has_threads
        self.meanings = Meanings(image)

    def of(self, entry: int) -> Content:
        found = None
        if self._walker is not None and self._unnameds is not None and not self._has_threads:
            found = _Closure(self, self._walker, self._unnameds).content(entry)
        return found if found is not None else Content(f"{self.whole} {entry:#x}")

    @cached_property
    def _unnameds(self) -> Unnameds | None:
        return None if self._walker is None else Unnameds(self.meanings, self._walker)

    @cached_property
    def all_data(self) -> str:
        """Where everything with a name is and what is in there: an index from an address in code may lead to any of it.
        (In a file without the names of static variables, it may lead anywhere.)"""
        if not self.image.names_variables:
            return self.whole
        said = [repr(self.meanings.layout)]
        said += [_plain(self.image, self.meanings, s.address, s.size).hex() for s in self.image.data_symbols[1]]
        return sha256("\n".join(said).encode("utf-8", "surrogateescape")).hexdigest()

    @cached_property
    def statics(self) -> frozenset[int]:
        """Where an object file has variables that no other file can name. Whether one of them is a constant depends on
        all code of the file: that nothing writes it."""
        return frozenset(low for section in self.image.statics for _, low, _ in section.objects)


def _plain(image: Image, meanings: Meanings, start: int, size: int) -> bytes:
    """Contents without the addresses in them."""
    content = bytearray(meanings.content(start, size))
    for at in range(len(content)):
        known = image.relocated.get(start + at)
        if known is not None:
            content[at : at + known.width] = bytes(len(content[at : at + known.width]))
    return bytes(content)


class _Unclear(Exception):
    pass


class _Closure:
    def __init__(self, file: Contents, walker: Walker, unnameds: Unnameds) -> None:
        self._file, self._image, self._meanings = file, file.image, file.meanings
        self._walker, self._unnameds = walker, unnameds
        self._has_variables = False
        self._has_statics = False
        self._numbers: dict[tuple[str, int], int] = {}
        """Functions and data in the order in which they are found."""
        self._pending: list[tuple[str, int, int]] = []
        self._names: set[str] = set()

    def content(self, entry: int) -> Content | None:
        said: list[str] = []
        if self._image.has_handlers or self._image.is_fixed:
            return None
        try:
            self._number("code", entry, 0)
            forms = False
            while self._pending:
                kind, place, size = self._pending.pop(0)
                if kind == "code":
                    walk = self._walker.walk(place)
                    said.append(self._code(walk))
                    where = self._meanings, self._walker, place
                    if counts_from_unnamed(*where) or counts_from_code(*where):
                        raise _Unclear
                    forms |= any(one.role is Role.FORM for one in walk.references)
                else:
                    said.append(self._data(place, size))
                if not self._pending and self._has_variables:
                    for at_start in initialiser_entries(self._image):
                        self._number("code", at_start, 0)
            if forms:
                said.append(self._file.all_data)
            if self._has_statics:
                said.append(self._file.whole)
        except (_Unclear, Unsupported, UserError):
            return None
        digest = sha256("\n".join(said).encode("utf-8", "surrogateescape")).hexdigest()
        entries = frozenset(place for kind, place in self._numbers if kind == "code")
        own = {s.name for s in self._image.symbols if s.is_function and s.address in entries}
        return Content(digest, frozenset(self._names | own), entries)

    def _number(self, kind: str, place: int, size: int) -> int:
        key = kind, place
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers)
            self._pending.append((kind, place, size))
        return self._numbers[key]

    def _code(self, walk: Walk) -> str:
        continues = any(self._walker.walk(callee).may_return for callee in walk.ended_at)
        if walk.refused or walk.jumps_anywhere or continues:
            raise _Unclear
        said = [repr(walk.steps), repr(sorted(walk.ended))]
        for role, number, size, *_ in walk.references:
            meaning = self._meanings.of(number)
            if isinstance(meaning, Object) and meaning.offset + size > meaning.size:
                raise _Unclear
            if isinstance(meaning, Slot) and (role is not Role.ACCESS or size > SLOT_SIZE):
                raise _Unclear
            said += [f"{role.value} {size} {self._said(meaning, size)}"]
        return "\n".join(said)

    def _said(self, meaning: Meaning | None, size: int) -> str:
        if isinstance(meaning, Outside):
            self._names.add(meaning.name)
            return f"outside {meaning.name} {meaning.is_weak} {self._image.versions.get(meaning.name)}"
        if isinstance(meaning, Slot):
            return f"slot {self._said(meaning.holds, 0)}"
        if isinstance(meaning, Code):
            replaced = self._meanings.is_replaceable(meaning.names)
            return f"code {sorted(meaning.names)} {replaced} {self._number('code', meaning.entry, 0)}"
        if isinstance(meaning, Object):
            where = self._number("data", meaning.start, meaning.size)
            self._has_variables |= meaning.is_writable
            self._has_statics |= meaning.is_writable and meaning.start in self._file.statics
            how = (sorted(meaning.names), meaning.offset, meaning.size, meaning.is_writable, meaning.is_unique)
            return f"data {how} {where}"
        if isinstance(meaning, Unnamed) and size:
            return f"constant {self._number(f'data {size}', meaning.own, size)}"
        text = self._unnameds.text(meaning.own) if isinstance(meaning, Unnamed) else None
        if text is None or not isinstance(meaning, Unnamed):
            raise _Unclear
        return f"text {self._numbers.setdefault(('text', meaning.own), len(self._numbers))} {text!r}"

    def _data(self, start: int, size: int) -> str:
        content = bytearray(self._meanings.content(start, size))
        said = []
        before = range(start - SLOT_SIZE + 1, start)
        if any(at + self._image.relocated[at].width > start for at in before if at in self._image.relocated):
            raise _Unclear
        for at in range(size):
            known = self._image.relocated.get(start + at)
            if start + at in self._image.broken:
                raise _Unclear
            if known is None:
                continue
            if known.width != SLOT_SIZE or known.relative or known.name:
                raise _Unclear
            number = int.from_bytes(self._meanings.content(start + at, SLOT_SIZE), self._image.byte_order)
            said.append(f"{at} {self._said(self._meanings.of(number), 0)}")
            content[at : at + SLOT_SIZE] = bytes(len(content[at : at + SLOT_SIZE]))
        section = self._image.section_at(start)
        if self._image.is_linked and section is not None and not section.writable:
            said += [self._said(meaning, LEAST_SAME) for meaning in self._meanings.led_to(start, bytes(content))]
        return f"{bytes(content).hex()} {said} {start % 64}"
