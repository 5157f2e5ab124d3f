"""A loaded file with code added to it that is in no file: a wrapper around one of its functions."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from isoform.load.image import Image, Section, Symbol
from isoform.load.open import Loaded
from isoform.model.signature import Signature

_ALIGNMENT = 0x1000
_ROOM = 1 << 16
"""More than a wrapper takes."""
_NAMED_ROOM = 1 << 20
"""A name without a section may be that of an object of up to this many bytes (`load/shared.py`)."""
SECTION = ".adaptor"


def with_wrapper(
    loaded: Loaded, signature: Signature, make: Callable[[int, int], bytes], images: Sequence[Image]
) -> Loaded:
    """The file with a function of this signature, whose code `make` gives for its own address and that of the loaded
    function. It is where none of the `images` has anything."""
    image, callee = loaded.image, loaded.symbol
    at = free_address(images, callee.address)
    code = make(at, callee.address)
    section = Section(SECTION, at, code, len(code), writable=False, executable=True)
    symbol = Symbol(signature.name, at, len(code), is_function=True, is_local=True)
    symbols = list(image.symbols)
    insort(symbols, symbol, key=lambda one: one.address)
    changed = replace(
        image,
        sections=(*image.sections, section),
        symbols=tuple(symbols),
        signatures={**image.signatures, signature.name: signature},
        spans=tuple(part for span in image.spans for part in _around(span, section)),
    )
    return replace(loaded, image=changed, symbol=symbol, together=None)


def free_address(images: Sequence[Image], callee: int) -> int:
    """The first place above the callee where none of the images has anything: a call reaches 2 GiB."""
    taken = [(section.address, section.end) for image in images for section in image.sections]
    named = [address for image in images for address in (*image.externals, *image.aliases)]
    taken += [(address, address + _NAMED_ROOM) for address in named]
    at = callee
    for start, end in sorted(taken):
        if start < at + _ROOM and end > at - _ALIGNMENT:
            at = (end // _ALIGNMENT + 2) * _ALIGNMENT
    return at


def _around(span: tuple[int, int, int], section: Section) -> Iterator[tuple[int, int, int]]:
    """A span of addresses that move with a linked file, without those of the wrapper: return addresses there are plain
    numbers, as in the file's own code."""
    low, high, start = span
    if section.address >= high or section.end <= low:
        yield span
        return
    if low < section.address:
        yield low, section.address, start
    if section.end < high:
        yield section.end, high, start
