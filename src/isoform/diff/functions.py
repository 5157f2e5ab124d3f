"""The functions of one file: where they are, what they are called, and digests that say which are the same code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256

from isoform.engines.same_code.meaning import Meanings, Object, Outside, Slot, Unnamed
from isoform.engines.same_code.walk import Role, Walk, Walker
from isoform.load.image import Image, Symbol
from isoform.load.resolve import STARTUP
from isoform.model.values import dataclass


@dataclass(frozen=True)
class Function:
    symbol: Symbol
    aliases: tuple[str, ...]
    """All its names, the one that is shown first."""
    digest: str
    """Of its own code, with the names of what it refers to outside and in data, but not of its callees in the file. ""
    if it could not be walked."""
    callees: tuple[int, ...]
    """Entries of the functions in the file that it calls."""
    words: frozenset[str]
    """Names and texts that it refers to: what it is recognised by."""

    @property
    def name(self) -> str:
        return self.symbol.name

    @property
    def address(self) -> int:
        return self.symbol.address


def functions_of(image: Image, walker: Walker | None) -> list[Function]:
    """One for each address, in the order of addresses. Without a walker there are no digests."""
    meanings = Meanings(image)
    found = [_function(symbol, names, meanings, walker) for symbol, names in _symbols(image)]
    return [one for one in found if not (image.is_linked and _is_added(one))]


def _is_added(function: Function) -> bool:
    """Whether it is what a C library's own files add to everything that is linked: assembly that has no size, or what
    passes `main` on. Functions of a program may have their names."""
    passes_main = function.name == "_start" and "__libc_start_main" in function.words
    return passes_main or (function.symbol.has_no_size and function.name in STARTUP)


def _symbols(image: Image) -> Iterator[tuple[Symbol, tuple[str, ...]]]:
    by_address: dict[int, list[Symbol]] = {}
    for symbol in image.symbols:
        # The function that a resolver chooses when the file is loaded is what the resolver's code says.
        address = image.resolvers.get(symbol.address, symbol.address)
        if symbol.is_function and symbol.size and image.code_at(address):
            by_address.setdefault(address, []).append(replace(symbol, address=address))
    for address in sorted(by_address):
        symbols = sorted(by_address[address], key=lambda s: (s.is_local, len(s.name) - len(s.name.lstrip("_")), s.name))
        yield symbols[0], tuple(dict.fromkeys(symbol.name for symbol in symbols))


def _function(symbol: Symbol, names: tuple[str, ...], meanings: Meanings, walker: Walker | None) -> Function:
    if walker is None:
        return Function(symbol, names, "", (), frozenset())
    walk = walker.walk(symbol.address)
    callees = tuple(dict.fromkeys(n for n in walk.callees if walker.function_at(n) is not None))
    words = frozenset(_words(walk, meanings))
    digest = "" if walk.refused else _digest(walk, meanings)
    return Function(symbol, names, digest, callees, words)


def _digest(walk: Walk, meanings: Meanings) -> str:
    said = [repr(walk.steps)]
    said += [f"{one.role.value} {_shown(one.number, meanings)}" for one in walk.references]
    return sha256("\n".join(said).encode("utf-8", "surrogateescape")).hexdigest()


def _shown(number: int, meanings: Meanings) -> str:
    meaning = meanings.of(number)
    if isinstance(meaning, Outside):
        return f"outside {meaning.name}"
    if isinstance(meaning, Object):
        return f"data {min(meaning.names)} {meaning.offset}"
    if isinstance(meaning, Unnamed):
        return f"text {meanings.text(meaning.own)!r}"
    return "code or unknown"


def _words(walk: Walk, meanings: Meanings) -> Iterator[str]:
    for one in walk.references:
        meaning = meanings.of(one.number)
        meaning = meaning.holds if isinstance(meaning, Slot) else meaning
        if isinstance(meaning, Outside):
            yield meaning.name
        elif isinstance(meaning, Object):
            yield min(meaning.names)
        elif isinstance(meaning, Unnamed) and one.role is Role.FORM:
            text = meanings.text(meaning.own)
            if text:
                yield f'"{text.decode("ascii", "replace")}"'
