"""Two whole files, placed together: for questions about many of their functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from isoform.load.image import Image, Symbol
from isoform.load.open import Library, Loaded
from isoform.load.parsed import ParsedFile
from isoform.load.place import place_files
from isoform.model.errors import UserError

Sides = tuple[Library, Library]


class LibraryPair:
    """Each is read and placed once; debug information is read for the functions that are asked about."""

    def __init__(self, files: tuple[ParsedFile, ParsedFile], shown: tuple[str, str]) -> None:
        if files[0].machine != files[1].machine:
            raise UserError(
                f"{shown[0]} is {files[0].machine} but {shown[1]} is {files[1].machine}: both must be for one machine."
            )
        self.files = files
        self._shown = shown

    @cached_property
    def libraries(self) -> Sides:
        return self._placed(together=False)

    @cached_property
    def together(self) -> Sides:
        """Placed so that objects with the same layout in two linked files move as one."""
        left, right = (library.image for library in self.libraries)
        return self._placed(together=True) if left.base and right.base and left.moved else self.libraries

    def _placed(self, together: bool) -> Sides:
        left, right = place_files(self.files, together)
        return Library(left, self._shown[0]), Library(right, self._shown[1])

    @property
    def images(self) -> tuple[Image, Image]:
        left, right = self.libraries
        return left.image, right.image

    def loaded(self, symbols: Sequence[Symbol]) -> tuple[Loaded, Loaded]:
        """One function of each. `symbols` are those of `images`."""
        target, rewrite = (library.loaded(s) for library, s in zip(self.libraries, symbols, strict=True))
        if self.together is self.libraries:
            return target, rewrite

        def together() -> tuple[Loaded, Loaded]:
            left, right = (_moved(library, s) for library, s in zip(self.together, symbols, strict=True))
            return left, right

        return replace(target, together=together), rewrite


def _moved(library: Library, symbol: Symbol) -> Loaded:
    """The function in another placement: a linked file is placed at the same address in all."""
    found = next(s for s in library.image.symbols if s.is_function and s.address == symbol.address)
    return library.loaded(found if found.name == symbol.name else replace(found, name=symbol.name))
