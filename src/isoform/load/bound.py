"""A compiled source file put into the image of a function that it calls."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import replace

from isoform.load.image import Image, Section, Symbol
from isoform.load.open import Loaded
from isoform.load.overlay import free_address
from isoform.load.parsed import UNDEFINED_SECTION, FileSection, FileSymbol, ParsedFile, Relocation
from isoform.load.section_names import is_referred_to
from isoform.model.errors import Unsupported
from isoform.model.linkage import Formula
from isoform.model.signature import Signature

_ALIGNMENT = 0x1000
_OWN = ".adaptor"


def with_compiled(
    loaded: Loaded, file: ParsedFile, signature: Signature, callee: str, images: Sequence[Image]
) -> Loaded:
    """The loaded file with the functions and constants of an object file, in which `callee` is the loaded function;
    the function of the signature's name is the one that is meant. It is where none of the `images` has anything."""
    return _Binding(loaded, file, callee, free_address(images, loaded.symbol.address)).bound(signature)


class _Binding:
    def __init__(self, loaded: Loaded, file: ParsedFile, callee: str, start: int) -> None:
        self._loaded = loaded
        self._file = file
        self._callee = callee
        self._addresses: dict[int, int] = {}
        for index, section in file.sections.items():
            if not is_referred_to(section.name) or not section.size:
                continue
            if section.writable or section.thread_local:
                raise Unsupported(f"the compiled wrapper has variables ({section.name})")
            self._addresses[index] = start
            start += -(-section.size // _ALIGNMENT) * _ALIGNMENT

    def bound(self, signature: Signature) -> Loaded:
        image = self._loaded.image
        sections = [self._section(self._file.sections[index], at) for index, at in self._addresses.items()]
        own = [*self._functions()]
        symbols = list(image.symbols)
        for symbol in own:
            insort(symbols, symbol, key=lambda one: one.address)
        chosen = next((symbol for symbol in own if symbol.name == signature.name), None)
        if chosen is None:
            raise Unsupported(f"the compiled wrapper has no function {signature.name}")
        changed = replace(
            image,
            sections=(*image.sections, *sections),
            symbols=tuple(symbols),
            signatures={**image.signatures, signature.name: signature},
        )
        return replace(self._loaded, image=changed, symbol=chosen, together=None)

    def _functions(self) -> list[Symbol]:
        return [
            Symbol(symbol.name, self._addresses[symbol.section] + symbol.value, symbol.size, True, is_local=True)
            for symbol in self._file.symbols
            if symbol.name and symbol.section in self._addresses and self._file.sections[symbol.section].executable
        ]

    def _section(self, section: FileSection, at: int) -> Section:
        content = bytearray(section.data)
        for relocation in self._file.relocations.get(section.index, ()):
            self._fill(content, relocation, at)
        name = _OWN if section.executable else section.name
        return Section(name, at, bytes(content), section.size, writable=False, executable=section.executable)

    def _fill(self, content: bytearray, relocation: Relocation, at: int) -> None:
        rule = self._file.linkage.relocations.get(relocation.kind)
        address = self._address(self._file.symbols[relocation.symbol])
        if rule is None or rule.formula not in (Formula.RELATIVE, Formula.ABSOLUTE) or rule.put is not None:
            raise Unsupported("the compiled wrapper uses an address in a way that is not bound here")
        value = address + relocation.addend - (at + relocation.offset if rule.formula is Formula.RELATIVE else 0)
        try:
            field = value.to_bytes(rule.width, self._file.byte_order, signed=value < 0)
        except OverflowError:
            raise Unsupported("the rewrite is too far away for the compiled wrapper") from None
        content[relocation.offset : relocation.offset + rule.width] = field

    def _address(self, symbol: FileSymbol) -> int:
        if symbol.section == UNDEFINED_SECTION:
            if symbol.name != self._callee:
                raise Unsupported(f"the compiled wrapper calls {symbol.name or 'something else'}")
            return self._loaded.symbol.address
        if symbol.section not in self._addresses:
            raise Unsupported("the compiled wrapper uses an address in a way that is not bound here")
        return self._addresses[symbol.section] + symbol.value
