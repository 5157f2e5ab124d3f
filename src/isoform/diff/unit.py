"""Two files that belong together, opened: what questions about their functions share."""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256

from isoform.diff.content import Content, Contents
from isoform.diff.functions import Function, functions_of
from isoform.diff.members import ComparedFile
from isoform.engines.same_code.identical import Identical
from isoform.load.described import SourceLine
from isoform.load.image import Image, Symbol
from isoform.load.library_pair import LibraryPair
from isoform.load.open import LoadOptions
from isoform.load.parsed import THREAD_LOCAL, ParsedFile
from isoform.load.place import place_files


class Unit:
    def __init__(
        self, number: int, members: tuple[ComparedFile, ComparedFile], files: tuple[ParsedFile, ParsedFile]
    ) -> None:
        self.number = number
        self.members = members
        self.pair = LibraryPair(files, (members[0].shown, members[1].shown))
        self.digests = tuple(sha256(file.data).hexdigest() for file in files)
        self._has_threads = tuple(map(_has_threads, files))

    @cached_property
    def identical(self) -> Identical:
        left, right = self.pair.together
        return Identical((left.image, right.image))

    @cached_property
    def functions(self) -> tuple[list[Function], list[Function]]:
        walkers = (None, None) if self.identical.why_never else self.identical.walkers
        left, right = (
            functions_of(library.image, walker) for library, walker in zip(self.pair.together, walkers, strict=True)
        )
        return left, right

    def symbols(self, entries: tuple[int, int]) -> tuple[Symbol, Symbol]:
        left, right = (by_address[entry] for by_address, entry in zip(self._by_address, entries, strict=True))
        return left, right

    def contents(self, entries: tuple[int, int]) -> tuple[Content, Content]:
        left, right = (side.of(entry) for side, entry in zip(self._contents, entries, strict=True))
        return left, right

    @cached_property
    def _contents(self) -> list[Contents]:
        walkers = (None, None) if self.identical.why_never else self.identical.walkers
        sides = zip(self.pair.together, walkers, self.digests, self._has_threads, strict=True)
        return [Contents(library.image, walker, digest, threads) for library, walker, digest, threads in sides]

    def lines(self, entries: tuple[int, int]) -> list[SourceLine | None]:
        """Where debug information says that two functions begin."""
        loaded = self.pair.loaded(self.symbols(entries))
        return [side.image.lines.get(entry) for side, entry in zip(loaded, entries, strict=True)]

    def declared(self, entries: tuple[int, int], contents: tuple[Content, Content]) -> list[str]:
        """What debug information says about two functions and what these lead to: types that an answer rests on."""
        found = []
        for side, content in zip(self.pair.loaded(self.symbols(entries)), contents, strict=True):
            image, names = side.image, content.names
            signatures = [s for name, s in sorted(image.signatures.items()) if names is None or name in names]
            own = [one for one in image.arrays if names is None or one.start in content.entries]
            arrays = sorted({(one.name, one.offset, one.size, one.can_be_indexed) for one in own})
            said = (signatures, image.pointers, arrays, names is None or sorted(image.inlined & names))
            found.append(sha256(repr(said).encode("utf-8", "surrogateescape")).hexdigest())
        return found

    @cached_property
    def _by_address(self) -> tuple[dict[int, Symbol], dict[int, Symbol]]:
        left, right = ({f.address: f.symbol for f in side} for side in self.functions)
        return left, right


def _has_threads(file: ParsedFile) -> bool:
    """Whether a file has thread-local data or names some of another file. (An image has a
    thread pointer also where code only checks the stack; code that uses it otherwise is refused by the walk.)"""
    symbols = (*file.symbols, *file.dynamic_symbols)
    is_named = any(symbol.kind == THREAD_LOCAL for symbol in symbols)
    return is_named or any(section.thread_local for section in file.sections.values())


def opened(number: int, members: tuple[ComparedFile, ComparedFile], loading: tuple[LoadOptions, LoadOptions]) -> Unit:
    left, right = (member.parsed(how) for member, how in zip(members, loading, strict=True))
    return Unit(number, members, (left, right))


def functions_alone(member: ComparedFile, loading: LoadOptions) -> tuple[Image, list[Function]]:
    """Of a file that only one version has."""
    image = place_files([member.parsed(loading)])[0].image
    return image, functions_of(image, None)
